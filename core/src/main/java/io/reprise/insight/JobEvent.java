// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.failure.Failure;
import io.reprise.job.JobId;
import io.reprise.job.JobTimes;
import io.reprise.job.Progress;
import io.reprise.retry.Decision;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A transition of a job. Listeners receive it after it was committed, with the values that were stored. Immutable.
 *
 * @param kind the transition
 * @param id the job
 * @param type name of the job type
 * @param queue name of the queue
 * @param resource name of the resource that the job calls; null if it names none
 * @param attempt number of the counted attempt that the event is about, from 1; 0 if the job has not run
 * @param at time of the transition, by the store's clock
 * @param firstDueAt when the job was first due, see {@link JobTimes#firstDueAt}; {@code at} less this is its age
 * @param firstFailedAt when the first counted attempt since {@code firstDueAt} failed; set when a retry succeeded, if
 *     known
 * @param ran how long the run took; null if no run ended
 * @param dueAt when the job is due, or was due if the transition is STARTED; null unless the job is PENDING after the
 *     transition or has started
 * @param failure the error of the run; null if there is none
 * @param decision the decision after the run; null if there is none
 * @param retries retries of the job after the transition
 * @param progress what a run reported; null unless the kind is PROGRESS
 * @since 0.1.0
 */
public record JobEvent(
        Kind kind,
        JobId id,
        String type,
        String queue,
        @Nullable String resource,
        int attempt,
        Instant at,
        Instant firstDueAt,
        @Nullable Instant firstFailedAt,
        @Nullable Duration ran,
        @Nullable Instant dueAt,
        @Nullable Failure failure,
        @Nullable Decision decision,
        RetryView retries,
        @Nullable Progress progress) {

    /** The kind of transition. Each constant says which worker or person causes it. */
    public enum Kind {
        /**
         * The job was stored by {@link Reprise#enqueue} or by a schedule. Not sent for jobs that are enqueued in a
         * caller's transaction, and not if a key led to a job that was there already.
         */
        ENQUEUED,

        /** A worker is about to call the handler. For a remote worker: the job was leased to it. */
        STARTED,

        /** A run reported how far it is, and the store has it. The job is RUNNING. */
        PROGRESS,

        /** The run succeeded. The job is SUCCEEDED and is deleted after {@link RepriseBuilder#keepFinished}. */
        SUCCEEDED,

        /**
         * The attempt failed and the policy grants another. The job is PENDING until {@code dueAt}. If a budget cannot
         * pay for the retry, the job is also parked until it can.
         */
        RETRY_SCHEDULED,

        /**
         * The job is a dead letter: the decision names the reason. Without a decision, its deadline passed while it
         * waited. A person can retry, replay or discard it.
         */
        FAILED,

        /** The handler asked to be called later. The job is PENDING until {@code dueAt} and has spent no attempt. */
        SNOOZED,

        /**
         * A worker gave the job back and no attempt was spent: it shut down, lost its lease, has no handler while
         * another worker has one, or an admitted run failed as the resource does. The job is PENDING.
         */
        RELEASED,

        /**
         * A worker parked the job before it ran, and no attempt was spent: the breaker of its resource holds it back,
         * or no live worker has a handler for its type. The leading worker unparks it.
         */
        PARKED,

        /**
         * The worker of the job did not renew its lease, and the leading worker took the lease over. RELEASED,
         * RETRY_SCHEDULED, FAILED or CANCELLED follows at once.
         */
        LOST,

        /**
         * The job is CANCELLED, by a person or by its handler. It is deleted after {@link RepriseBuilder#keepFinished}.
         */
        CANCELLED,

        /** A person retried or replayed the job, or changed it while it waited. It is PENDING. */
        REQUEUED,
        /** A person deleted the job with its history. Jobs that are deleted by age send no event. */
        DISCARDED,

        /**
         * A run ended after its lease was lost. Its outcome was refused and changed nothing. Another run decides about
         * the job.
         */
        STALE
    }
}
