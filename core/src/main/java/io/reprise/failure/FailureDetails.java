// SPDX-License-Identifier: Apache-2.0
package io.reprise.failure;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An interface for exceptions that carry more than a type and a message. Implement it to give the retry policy more
 * evidence.
 *
 * <p>Each value comes from the first exception along the cause chain that gives it. A method may be called more than
 * once. A method that throws counts as one that returns null.
 *
 * @since 0.1.0
 */
public interface FailureDetails {

    /**
     * Returns an application error code that rules can match, such as {@code "insufficient_funds"}. The default is
     * null: no code.
     */
    default @Nullable String code() {
        return null;
    }

    /** Returns the HTTP status that caused the failure. The default is null: no status. */
    default @Nullable Integer httpStatus() {
        return null;
    }

    /**
     * Returns how long the other side asked to wait, as in the {@code Retry-After} header. The default is null: it did
     * not ask.
     */
    default @Nullable Duration retryAfter() {
        return null;
    }
}
