// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.job.JobCounts;

/**
 * The counter of a job that one claim moves when it ends. Each claim ends in exactly one of these. The counters are in
 * {@link JobCounts}.
 *
 * @since 0.1.0
 */
public enum CountedAs {
    /**
     * The run ended in success, failure, timeout or cancellation. The worker sets it; {@code attempts} grows by one and
     * counts against {@code maxAttempts}. The job stops being a suspect. A person can grant more attempts with a manual
     * retry.
     */
    ATTEMPT,
    /**
     * The worker disappeared and its lease expired. The leader sets it after a take-over; {@code losses} grows by one.
     * From the second loss on the job is a suspect. {@link io.reprise.retry.LossRule} says whether a loss counts
     * against {@code maxAttempts} and how many losses quarantine the job.
     */
    LOSS,
    /**
     * The worker stopped in an orderly way, or noticed that it lost its lease. The leader also sets it for a loss that
     * is excused, or if a remote worker was never heard from. {@code interruptions} grows by one; nothing counts
     * against {@code maxAttempts}, and the job runs again.
     */
    INTERRUPTION,
    /**
     * The handler asked to run later. The worker also sets it for an admitted run that failed with its resource, and
     * for a run that it could not decide. {@code snoozes} grows by one; nothing counts against {@code maxAttempts}.
     */
    SNOOZE,
    /**
     * The claim was given back before the handler started, or the job was parked. The worker sets it. No counter moves
     * and no attempt is written.
     */
    NOTHING;

    /** Returns the counters after a claim that moves this one. */
    public JobCounts addTo(JobCounts counts) {
        return this == NOTHING
                ? counts
                : new JobCounts(
                        counts.attempts() + (this == ATTEMPT ? 1 : 0),
                        counts.losses() + (this == LOSS ? 1 : 0),
                        counts.interruptions() + (this == INTERRUPTION ? 1 : 0),
                        counts.snoozes() + (this == SNOOZE ? 1 : 0),
                        counts.granted());
    }
}
