// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What happens to a job after an attempt that did not succeed. */
public sealed interface Decision {

    /** Name of what chose this: a rule, {@code unclassified}, {@code handler}, {@code timeout}, {@code lost}, ... */
    String rule();

    /** The class of the failure; null only where nothing failed, as for a snooze asked for by the handler. */
    @Nullable
    FailureClass failureClass();

    /** Whether the attempt spends one of {@code maxAttempts}. */
    boolean counts();

    /** What the fleet's experience says of another attempt, whatever was decided; null if there is none. */
    default @Nullable Prediction prediction() {
        return null;
    }

    /**
     * Another attempt after {@code delay}.
     *
     * @param raw the delay without jitter and without what the other side asked for
     */
    record Retry(
            Duration raw,
            Duration delay,
            FailureClass failureClass,
            String rule,
            @Nullable Prediction prediction) implements Decision {
        public Retry {
            Bounds.notNegative("raw", raw);
            Bounds.notNegative("delay", delay);
        }

        public Retry(Duration raw, Duration delay, FailureClass failureClass, String rule) {
            this(raw, delay, failureClass, rule, null);
        }

        @Override
        public boolean counts() {
            return true;
        }
    }

    /** No further attempt. */
    record Fail(
            FailReason reason,
            FailureClass failureClass,
            String rule,
            boolean counts,
            @Nullable Prediction prediction) implements Decision {

        public Fail(FailReason reason, FailureClass failureClass, String rule, boolean counts) {
            this(reason, failureClass, rule, counts, null);
        }
    }

    /** The handler asked to be run again later; nothing failed. */
    record Snooze(Duration delay, String rule) implements Decision {
        public Snooze {
            Bounds.notNegative("delay", delay);
        }

        public Snooze(Duration delay) {
            this(delay, "handler");
        }

        @Override
        public @Nullable FailureClass failureClass() {
            return null;
        }

        @Override
        public boolean counts() {
            return false;
        }
    }

    /** The attempt is given back unspent; the job is due again after {@code delay}. */
    record Release(Duration delay, FailureClass failureClass, String rule) implements Decision {
        public Release {
            Bounds.notNegative("delay", delay);
        }

        @Override
        public boolean counts() {
            return false;
        }
    }
}
