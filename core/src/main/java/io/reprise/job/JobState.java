// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import io.reprise.RepriseBuilder;

/**
 * The state of a job. PENDING and RUNNING jobs are live. SUCCEEDED, FAILED and CANCELLED are terminal: only a person
 * brings a FAILED job back, and nothing brings back the other two.
 *
 * @since 0.1.0
 */
public enum JobState {
    /**
     * The job waits for its due time, for a free worker, or parked, for a breaker, a budget or a handler.
     * {@link WaitReason} says which. A worker claims it when it is due; the leading worker fails it when its deadline
     * passes. A person can cancel it, bring it forward by a retry, or replace it by its unique key.
     */
    PENDING,

    /**
     * A worker holds the job under a lease and renews the lease until the run ends. The worker settles the job; if the
     * worker goes silent, the leading worker takes the lease over. A person can cancel the job: its handler is
     * interrupted.
     */
    RUNNING,

    /**
     * The handler returned, and the result, if any, is visible. The job is deleted after
     * {@link RepriseBuilder#keepFinished}, 7 days unless set. A person can discard it earlier.
     */
    SUCCEEDED,

    /**
     * A dead letter: the job failed for good, with a {@link io.reprise.retry.FailReason}. It is kept until a person
     * retries, replays or discards it. Only {@link RepriseBuilder#keepFailed} lets the leading worker delete it by age.
     */
    FAILED,

    /**
     * A person or the handler ended the job on purpose. It is deleted after {@link RepriseBuilder#keepFinished}, 7 days
     * unless set. A person can discard it earlier.
     */
    CANCELLED;

    /** Returns whether the job has ended: true for SUCCEEDED, FAILED and CANCELLED. */
    public boolean isTerminal() {
        return this == SUCCEEDED || this == FAILED || this == CANCELLED;
    }
}
