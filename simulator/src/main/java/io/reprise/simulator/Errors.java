// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import io.reprise.failure.FailureDetails;
import io.reprise.failure.NonRetryable;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The failures of simulated calls: the classes that real calls fail with, without the cost of a stack trace. */
public final class Errors {

    private Errors() {}

    public static Exception refused() {
        return new Refused();
    }

    public static Exception overloaded() {
        return new Overloaded();
    }

    /** A call that was throttled, with or without a time to call again. */
    public static Exception throttled(@Nullable Duration retryAfter) {
        return new Throttled(retryAfter);
    }

    public static Exception interrupted() {
        return new Interrupted();
    }

    public static Exception failed() {
        return new Failed();
    }

    /** The client's budget did not allow a retry. */
    static Exception outOfBudget() {
        return new OutOfBudget();
    }

    private static final class Refused extends ConnectException {
        private static final long serialVersionUID = 1L;

        Refused() {
            super("Connection refused");
        }

        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
    }

    private static final class Overloaded extends IOException implements FailureDetails {
        private static final long serialVersionUID = 1L;

        Overloaded() {
            super("Service Unavailable");
        }

        @Override
        public Integer httpStatus() {
            return 503;
        }

        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
    }

    private static final class Throttled extends IOException implements FailureDetails {
        private static final long serialVersionUID = 1L;

        private final @Nullable Duration retryAfter;

        Throttled(@Nullable Duration retryAfter) {
            super("Too Many Requests");
            this.retryAfter = retryAfter;
        }

        @Override
        public Integer httpStatus() {
            return 429;
        }

        @Override
        public @Nullable Duration retryAfter() {
            return retryAfter;
        }

        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
    }

    private static final class Interrupted extends InterruptedException {
        private static final long serialVersionUID = 1L;

        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
    }

    private static final class Failed extends IOException {
        private static final long serialVersionUID = 1L;

        Failed() {
            super("Connection reset");
        }

        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
    }

    private static final class OutOfBudget extends IOException implements NonRetryable {
        private static final long serialVersionUID = 1L;

        OutOfBudget() {
            super("retry budget is empty");
        }

        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
    }
}
