// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import io.reprise.failure.Failure;
import io.reprise.retry.Decision;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One run of a job, kept as history with the decision that followed. A job that is claimed and given back before its
 * handler starts leaves no attempt. Immutable.
 *
 * @param number number of the counted attempt, from 1. A run that did not count has the same number as the next run
 * @param token fencing token of the lease that the run had; unique within the job, and greater in each later run
 * @param worker name of the worker that ran the job
 * @param startedAt when the run started, by the store's clock
 * @param endedAt when the run ended, by the store's clock
 * @param ending how the run ended
 * @param failure the error of the run; null after a success, or a snooze that the handler asked for
 * @param decision the decision after a failed, lost, interrupted or snoozed run; null after a success or a cancellation
 * @since 0.1.0
 */
public record Attempt(
        int number,
        long token,
        String worker,
        Instant startedAt,
        Instant endedAt,
        Ending ending,
        @Nullable Failure failure,
        @Nullable Decision decision) {

    /** Returns this attempt with another number. */
    public Attempt numbered(int other) {
        return new Attempt(other, token, worker, startedAt, endedAt, ending, failure, decision);
    }

    /** How a run ended, and which counter of {@link JobCounts} it raised. */
    public enum Ending {
        /**
         * The handler returned, or completed the job in its own transaction. Counts as an attempt. The job is
         * SUCCEEDED.
         */
        SUCCEEDED,

        /**
         * The handler threw, ran into its timeout, or the payload was unreadable. Counts as an attempt. The policy
         * decided: the job waits for a retry or is FAILED.
         */
        FAILED,

        /**
         * The worker did not renew its lease, for instance because it died. The leading worker wrote this ending.
         * Counts as a loss, which spends an attempt only if the policy's {@link io.reprise.retry.LossRule} says so.
         */
        LOST,

        /**
         * The run was cut short for no fault of the job: the worker shut down, or a remote worker never reported.
         * Counts as an interruption and spends no attempt. The job is pending again at once.
         */
        INTERRUPTED,

        /**
         * The handler asked to be called later. Also a run that a breaker admitted and that failed as the resource
         * does; such a run has a failure. Counts as a snooze and spends no attempt.
         */
        SNOOZED,

        /**
         * The handler threw {@link JobSignal#cancel}, or stopped because a person cancelled the job. Counts as an
         * attempt. The job is CANCELLED.
         */
        CANCELLED
    }
}
