// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a run ended, before anything is decided about it.
 *
 * @param error what the handler threw, or what kept it from running; null after a success
 * @param result JSON, if the handler gave any
 */
record Ended(
        Run run,
        Kind kind,
        Duration ran,
        @Nullable Throwable error,
        @Nullable String result) {

    enum Kind {
        /** The handler returned or threw. */
        HANDLED,
        /** Its payload could not be read. */
        UNREADABLE,
        /** This worker has no handler for its type. */
        UNHANDLED,
        /** Its deadline had passed before it could start. */
        TOO_LATE,
        /** It was given back before it started. */
        NOT_STARTED
    }
}
