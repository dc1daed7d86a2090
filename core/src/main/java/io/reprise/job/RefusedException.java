// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import io.reprise.ManualRetry;

/**
 * Thrown when an operation is refused because a job or a schedule does not exist, or the state of the job forbids the
 * operation. Nothing was changed.
 *
 * @since 0.1.0
 */
public class RefusedException extends RepriseException {

    private static final long serialVersionUID = 1L;

    /** The reason, for programs. */
    public enum Code {
        /** The job or the schedule does not exist. A job may have been deleted by age. */
        NOT_FOUND,
        /** The state of the job does not allow the operation. */
        INVALID_STATE,
        /** The job failed as PERMANENT or UNREADABLE. {@link ManualRetry#forced} overrides this. */
        NOT_RETRYABLE,
        /** The job has spent its attempts. Grant more, reset the counters, or use {@link ManualRetry#forced}. */
        MAX_RETRIES_EXCEEDED,
        /** Another live job holds the unique key of the job. */
        KEY_TAKEN,
        /** A value is outside its bounds for this job, such as a due time in the past or beyond the deadline. */
        OUT_OF_BOUNDS
    }

    private final Code code;

    /**
     * Creates the exception.
     *
     * @param code the reason, for programs
     * @param message the reason, for people
     */
    public RefusedException(Code code, String message) {
        super(message);
        this.code = code;
    }

    /** Creates the refusal for a batch that does not exist. */
    public static RefusedException noBatch(String name) {
        return new RefusedException(
                Code.NOT_FOUND,
                "Batch '" + name + "' does not exist: create it first. A batch is deleted 30 days after its end");
    }

    /**
     * Creates the refusal for a batch that takes no more members.
     *
     * @param sibling whether a member wanted to add one
     */
    public static RefusedException closedBatch(String name, boolean sibling) {
        return new RefusedException(
                Code.INVALID_STATE,
                "Batch '" + name
                        + (sibling
                                ? "' has ended: a job that no longer runs for it cannot add others"
                                : "' is closed: only its running members can add jobs to it"));
    }

    /** Creates the refusal for a job of a batch whose key leads to a job that is there. */
    public static RefusedException followerThere(JobId job) {
        return new RefusedException(
                Code.KEY_TAKEN,
                "The key of the job for the end of a batch leads to job " + job
                        + ", which is there already and would not wait for the batch: give it another key");
    }

    /** Returns the reason, for programs. */
    public Code code() {
        return code;
    }
}
