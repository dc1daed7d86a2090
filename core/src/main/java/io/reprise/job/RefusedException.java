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

    /** Returns the reason, for programs. */
    public Code code() {
        return code;
    }
}
