// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.JobId;
import java.time.Instant;

/**
 * Answer to one enqueued spec.
 *
 * @param id of the new job, or of the one that was there already
 * @param created false if a unique or idempotency key led to a job that was there already
 * @param dueAt when the job is due as stored
 */
public record Inserted(JobId id, boolean created, Instant dueAt) {}
