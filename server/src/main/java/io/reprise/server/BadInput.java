// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

/** What the user gave cannot be used; the message says what and why, and is all the user needs. */
final class BadInput extends RuntimeException {

    private static final long serialVersionUID = 1L;

    BadInput(String message) {
        super(message);
    }

    BadInput(String message, Throwable cause) {
        super(message, cause);
    }
}
