// SPDX-License-Identifier: Apache-2.0
export { Client, Problem, Unanswered } from "./client.js";
export { Cancel, JobError, JoinFailed, Snooze, StepFailed, Suspended, Worker } from "./worker.js";
export { InvalidSignature, verify } from "./webhooks.js";
