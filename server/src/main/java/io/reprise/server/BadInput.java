// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

/** What the user gave cannot be used; the message says what and why, and is all the user needs. */
final class BadInput extends RuntimeException {

    private static final long serialVersionUID = 1L;

    static void require(boolean isSo, String otherwise) {
        if (!isSo) {
            throw new BadInput(otherwise);
        }
    }

    BadInput(String message) {
        super(message);
    }

    BadInput(String message, Throwable cause) {
        super(message, cause);
    }
}
