// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.JobSignal;
import io.reprise.retry.Failure;
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
        @Nullable Thrown error,
        @Nullable String result) {

    enum Kind {
        /** The handler returned or threw. */
        HANDLED,
        /** Its payload could not be read. */
        UNREADABLE,
        /** This worker has no handler for its type. */
        UNHANDLED,
        /** The breaker of its resource holds it back. */
        HELD,
        /** It was given back before it started. */
        NOT_STARTED
    }

    /** An error as data, read in the thread that caught it: reading it takes longer than anything the committer does. */
    record Thrown(Failure failure, @Nullable JobSignal signal) {

        private static final int MAX_CAUSES = 16;

        static Thrown of(Throwable thrown) {
            return new Thrown(Failure.of(thrown), signal(thrown));
        }

        private static @Nullable JobSignal signal(Throwable thrown) {
            try {
                Throwable link = thrown;
                for (int depth = 0; link != null && depth < MAX_CAUSES; depth++) {
                    if (link instanceof JobSignal signal) {
                        return signal;
                    }
                    link = link.getCause();
                }
                return null;
            } catch (RuntimeException | LinkageError | StackOverflowError broken) {
                // An exception can be broken too; then it is just a failure.
                return null;
            }
        }
    }

    /** Whether the job had its chance. */
    boolean wasTried() {
        return kind == Kind.HANDLED || kind == Kind.UNREADABLE;
    }

    static Ended notStarted(Run run) {
        return new Ended(run, Kind.NOT_STARTED, Duration.ZERO, null, null);
    }

    Ended succeeded() {
        return new Ended(run, Kind.HANDLED, ran, null, result);
    }

    Ended failed(Throwable thrown) {
        return new Ended(run, kind, ran, Thrown.of(thrown), null);
    }
}
