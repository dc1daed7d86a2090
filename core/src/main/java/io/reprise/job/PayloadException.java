// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import io.reprise.failure.NonRetryable;

/**
 * Thrown when a payload or a result cannot be written as JSON, or cannot be read from it. A job that fails with it is
 * not retried: the same value would be refused again, after the work was done again.
 *
 * @since 0.1.0
 */
public class PayloadException extends RepriseException implements NonRetryable {

    private static final long serialVersionUID = 1L;

    /** Creates the exception. Keep secrets of the payload out of the message: it is stored. */
    public PayloadException(String message) {
        super(message);
    }

    /** Creates the exception with a cause. Keep secrets of the payload out of both: they are stored. */
    public PayloadException(String message, Throwable cause) {
        super(message, cause);
    }
}
