// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import java.time.Instant;

/**
 * The answer to one enqueued spec.
 *
 * @param id id of the new job, or of the job that was there already
 * @param created false if a unique key or an idempotency key led to a job that was there already
 * @param dueAt when the job is due, as stored
 * @since 0.1.0
 */
public record Enqueued(JobId id, boolean created, Instant dueAt) {}
