// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

/**
 * Root of the exceptions that Reprise throws. The message says what failed, which job it concerns, and what to do.
 *
 * @since 0.1.0
 */
public class RepriseException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Creates the exception. */
    public RepriseException(String message) {
        super(message);
    }

    /** Creates the exception with a cause. */
    public RepriseException(String message, Throwable cause) {
        super(message, cause);
    }
}
