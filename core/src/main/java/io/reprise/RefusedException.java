// SPDX-License-Identifier: Apache-2.0
package io.reprise;

/** An operation by hand was refused because of the state the job is in. Nothing was changed. */
public class RefusedException extends RepriseException {

    private static final long serialVersionUID = 1L;

    /** Why, in a form a program can act on. */
    public enum Code {
        /** There is no such job. */
        NOT_FOUND,
        /** The job is not in a state that allows it. */
        INVALID_STATE,
        /** It failed for a reason that no further attempt will cure; {@code force} overrides. */
        NOT_RETRYABLE,
        /** It has spent its attempts; grant more, reset them, or {@code force} one. */
        MAX_RETRIES_EXCEEDED,
        /** Another live job holds its unique key. */
        KEY_TAKEN
    }

    private final Code code;

    public RefusedException(Code code, String message) {
        super(message);
        this.code = code;
    }

    public Code code() {
        return code;
    }
}
