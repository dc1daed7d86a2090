// SPDX-License-Identifier: Apache-2.0
package io.reprise;

/** Root of what Reprise throws. The message says what failed, which job it concerns and what to do. */
public class RepriseException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public RepriseException(String message) {
        super(message);
    }

    public RepriseException(String message, Throwable cause) {
        super(message, cause);
    }
}
