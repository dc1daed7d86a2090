// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.client;

/** An operation was not done. The message says what, why, and what to do, in words for people; it quotes no secret. */
public final class LinkException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final boolean refused;

    private LinkException(String message, boolean refused, Throwable cause) {
        super(message, cause);
        this.refused = refused;
    }

    /** What was asked for cannot be done: asking again the same way is of no use. */
    static LinkException refused(String message, Throwable cause) {
        return new LinkException(message, true, cause);
    }

    /** Nobody answered, or the one who did failed. */
    static LinkException unavailable(String message, Throwable cause) {
        return new LinkException(message, false, cause);
    }

    public boolean isRefused() {
        return refused;
    }
}
