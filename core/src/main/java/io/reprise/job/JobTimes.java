// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The times of a job, by the store's clock. Immutable.
 *
 * @param createdAt when the job was enqueued
 * @param firstDueAt when the job was first due. The deadline of the policy counts from here, so a manual retry or a
 *     replay sets it again if the policy has a deadline
 * @param dueAt when the job may run; null unless PENDING
 * @param deadline from this time on no run starts; null if the policy has no deadline
 * @param startedAt when the current or the last run started; null while PENDING, and if the job ended without a run
 * @param finishedAt when the job ended; null unless the state is terminal
 * @param lastDelay delay of the latest retry, for jitter that depends on it; null if there was no retry
 * @since 0.1.0
 */
public record JobTimes(
        Instant createdAt,
        Instant firstDueAt,
        @Nullable Instant dueAt,
        @Nullable Instant deadline,
        @Nullable Instant startedAt,
        @Nullable Instant finishedAt,
        @Nullable Duration lastDelay) {}
