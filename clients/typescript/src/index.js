// SPDX-License-Identifier: Apache-2.0
export { Client, Problem, Unanswered } from "./client.js";
export { JobError, Snooze, Worker } from "./worker.js";
export { InvalidSignature, verify } from "./webhooks.js";
