// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * When things happened to a job, by the store's clock.
 *
 * @param firstDueAt when the current life of the job began: what a policy's deadline and elapsed time count from
 * @param dueAt when it may run next; set exactly while PENDING
 * @param deadline then or later no run starts
 * @param startedAt start of the current run, or of the one that ended it; null while PENDING
 * @param finishedAt set exactly in a terminal state
 * @param lastDelay the delay of the latest retry, for jitter that depends on it
 */
public record JobTimes(
        Instant createdAt,
        Instant firstDueAt,
        @Nullable Instant dueAt,
        @Nullable Instant deadline,
        @Nullable Instant startedAt,
        @Nullable Instant finishedAt,
        @Nullable Duration lastDelay) {}
