// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

/** Thrown if the user's input cannot be used. The message says what is wrong and why; the user needs nothing else. */
public final class BadInput extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public static void require(boolean isSo, String otherwise) {
        if (!isSo) {
            throw new BadInput(otherwise);
        }
    }

    public BadInput(String message) {
        super(message);
    }

    public BadInput(String message, Throwable cause) {
        super(message, cause);
    }
}
