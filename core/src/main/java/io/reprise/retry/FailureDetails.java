// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What an exception may tell about itself beyond its type and message.
 *
 * <p>The first exception along the cause chain that gives a value wins, separately for each of the three.
 */
public interface FailureDetails {

    /** An application error code that rules can match, such as {@code "insufficient_funds"}. */
    default @Nullable String code() {
        return null;
    }

    /** The HTTP status that caused the failure. */
    default @Nullable Integer httpStatus() {
        return null;
    }

    /** How long the other side asked to wait, as in the {@code Retry-After} header. */
    default @Nullable Duration retryAfter() {
        return null;
    }
}
