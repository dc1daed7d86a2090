// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.client;

/**
 * Thrown if an operation was not done. The message says what failed, why, and what to do, for
 * people; it quotes no secret.
 */
public final class LinkException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final boolean refused;

    private LinkException(String message, boolean refused, Throwable cause) {
        super(message, cause);
        this.refused = refused;
    }

    /** The operation is refused: the same request again does not help. */
    static LinkException refused(String message, Throwable cause) {
        return new LinkException(message, true, cause);
    }

    /** No server answered, or the server failed. */
    static LinkException unavailable(String message, Throwable cause) {
        return new LinkException(message, false, cause);
    }

    public boolean isRefused() {
        return refused;
    }
}
