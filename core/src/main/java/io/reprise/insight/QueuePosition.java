// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import io.reprise.job.Job;
import io.reprise.job.QueueState;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The position of a job among others.
 *
 * @param job the job
 * @param at time of this answer, by the store's clock
 * @param leaseUntil when the worker loses the job unless it renews its lease; set exactly while the job is RUNNING
 * @param parkedBy name that the job is parked by; null if it is not parked
 * @param paused the pause of its queue; null if the queue is not paused
 * @param maxRunning the limit of its queue, or of the queue that it names if that leaves less room; null if there is none
 * @param running jobs that run now and that the limit counts: those of its queue, and those with needs beside it
 * @param higher due jobs of higher priority that are claimed before it, counted up to a limit; 0 unless the job is due
 *     and not parked
 * @param earlier due jobs of the same priority that are claimed before it, counted up to a limit; 0 unless the job is
 *     due and not parked. If groups take turns, only jobs of its own turn count
 * @since 0.1.0
 */
public record QueuePosition(
        Job job,
        Instant at,
        @Nullable Instant leaseUntil,
        @Nullable String parkedBy,
        QueueState.@Nullable Pause paused,
        @Nullable Integer maxRunning,
        int running,
        int higher,
        int earlier) {}
