// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.job.JobId;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a requeue.
 *
 * @param result whether the job was put back, or why not
 * @param id the job that is pending now; null if it was not put back
 * @since 0.1.0
 */
public record RequeueResult(Result result, @Nullable JobId id) {

    /** Whether the job was put back, or why not. */
    public enum Result {
        /** The job is pending now. */
        DONE,
        /** There is no such job. */
        MISSING,
        /** The job is running, succeeded or cancelled. It is neither FAILED nor PENDING, so it cannot be put back. */
        NOT_WAITING,
        /** Another live job holds the unique key. A person can put the job back when that job has ended. */
        KEY_TAKEN,
        /** The requeue changes a step, and the job has no such step, or the step is not STARTED. */
        NO_STEP,
        /** The job waits for the end or the success of a batch. Until then nobody makes it due. */
        FOLLOWS
    }
}
