// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import io.reprise.Operations;
import io.reprise.Reprise;
import io.reprise.insight.Alert;

/**
 * The reason why a PENDING job waits. A job that is due and not parked can still wait for a free worker, a paused queue
 * or a queue limit; {@link Reprise#explain} says which.
 *
 * @since 0.1.0
 */
public enum WaitReason {
    /** The job never ran and was due at once when it was enqueued. A worker claims it as soon as one is free. */
    NEW,

    /**
     * The job never ran and was enqueued for later. A worker claims it at its due time. A person can bring it forward
     * by {@link Operations#retry}.
     */
    DELAYED,

    /**
     * An attempt failed or its worker was lost, and the policy grants another. A worker claims the job after the delay
     * of the policy. A person can bring it forward by {@link Operations#retry}.
     */
    RETRY,

    /** The handler asked to be called later. A worker claims the job at its due time. No attempt was spent. */
    SNOOZE,

    /** The handler sleeps in a step. A worker claims the job at its due time. No attempt was spent. */
    SLEEP,

    /**
     * The handler waits for an event. A worker claims the job when a caller tells it by {@link Reprise#tell}, or at its
     * due time, when the wait has lasted too long. No attempt was spent.
     */
    EVENT,

    /**
     * The job waits until a batch ends: it is the job for the end or the success of a batch, or its handler joins other
     * jobs. The outcome of the last member makes it due. A person can bring it forward by {@link Operations#retry}.
     */
    BATCH,

    /**
     * The job waits for the end of another job that holds its unique key, under {@link KeyRule#FOLLOW}. The leading
     * worker makes it due when the other has ended. A person can cancel it.
     */
    FOLLOW,

    /**
     * A worker parked the job because the breaker of its resource holds it back. No attempt was spent. The leading
     * worker unparks it as the breaker admits jobs. A person can cancel it, or force the breaker closed by
     * {@link Operations#forceClose}. A manual retry does not help: the next worker parks it again.
     */
    BREAKER,

    /**
     * A worker parked the retry because a budget could not pay for it. The leading worker unparks it, the earliest due
     * first, when the budget can. A budget grants at least its floor, one retry per second unless set. A person can
     * bring the job forward by {@link Operations#retry}, which costs no credit.
     */
    BUDGET,

    /**
     * A worker parked the job because no live worker of its queue has a handler for its type. The leading worker
     * unparks it when such a worker has started. The alert {@link Alert.Kind#NO_HANDLER} is raised. A person can start
     * such a worker, or cancel the job.
     */
    NO_HANDLER,

    /**
     * A person retried or replayed the job. A worker claims it at its due time, which is at once unless the retry is
     * with backoff.
     */
    MANUAL
}
