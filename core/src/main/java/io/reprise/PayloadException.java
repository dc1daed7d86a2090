// SPDX-License-Identifier: Apache-2.0
package io.reprise;

/** A payload or result could not be written as JSON, or read back from it. */
public class PayloadException extends RepriseException {

    private static final long serialVersionUID = 1L;

    public PayloadException(String message) {
        super(message);
    }

    public PayloadException(String message, Throwable cause) {
        super(message, cause);
    }
}
