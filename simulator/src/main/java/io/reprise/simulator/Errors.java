// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import io.reprise.retry.FailureDetails;
import io.reprise.retry.NonRetryable;
import java.io.IOException;
import java.net.ConnectException;

/** What simulated calls fail of: the classes real ones fail of, without the cost of a stack trace. */
final class Errors {

    private Errors() {}

    static Exception refused() {
        return new Refused();
    }

    static Exception overloaded() {
        return new Overloaded();
    }

    static Exception interrupted() {
        return new Interrupted();
    }

    static Exception failed() {
        return new Failed();
    }

    /** The client gave up retrying this request. */
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
