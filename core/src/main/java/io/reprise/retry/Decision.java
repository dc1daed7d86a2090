// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.failure.FailureClass;
import io.reprise.failure.Rule;
import io.reprise.text.Bounds;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The decision about a job after a run that did not succeed. The store keeps it with the attempt.
 *
 * <p>{@link Retry} and {@link Fail} come from the {@link RetryPolicy}. {@link Snooze} comes from the handler.
 * {@link Release} gives the attempt back without spending it. Immutable and thread-safe.
 *
 * @since 0.1.0
 */
public sealed interface Decision {

    /**
     * Returns the name of the rule that chose this decision. It is the name of a {@link Rule}, or a fixed name such as
     * {@code unclassified}, {@code handler}, {@code timeout}, {@code lost}, {@code shutdown} or
     * {@code retries-disabled}.
     */
    String rule();

    /** Returns the class of the failure. It is null only for a {@link Snooze}, because nothing failed. */
    @Nullable
    FailureClass failureClass();

    /** Returns whether the attempt spends one of {@code maxAttempts}. */
    boolean counts();

    /**
     * Returns how likely another attempt is to succeed, by the experience of the whole fleet. It is set for a retry and
     * for a failure. It is null if the fleet has too little experience, and for a snooze or a release.
     */
    default @Nullable Prediction prediction() {
        return null;
    }

    /**
     * Another attempt. The engine makes the job PENDING with wait reason RETRY, due after {@code delay}. If a retry
     * budget has no credit left, the engine parks the job instead. The attempt counts.
     *
     * @param raw the delay without jitter and without {@code Retry-After}; 0 to 36,500 days
     * @param delay the delay to wait; 0 to 36,500 days
     * @param failureClass the class of the failure
     * @param rule name of the rule that chose the class
     * @param prediction how likely the attempt is to succeed; null if unknown
     */
    record Retry(
            Duration raw,
            Duration delay,
            FailureClass failureClass,
            String rule,
            @Nullable Prediction prediction) implements Decision {
        /**
         * Checks the delays.
         *
         * @throws NullPointerException if {@code raw} or {@code delay} is null
         * @throws IllegalArgumentException if {@code raw} or {@code delay} is negative or longer than 36,500 days
         */
        public Retry {
            Bounds.notNegative("raw", raw);
            Bounds.notNegative("delay", delay);
        }

        /**
         * Creates a retry without a prediction.
         *
         * @throws NullPointerException if {@code raw} or {@code delay} is null
         * @throws IllegalArgumentException if {@code raw} or {@code delay} is negative or longer than 36,500 days
         */
        public Retry(Duration raw, Duration delay, FailureClass failureClass, String rule) {
            this(raw, delay, failureClass, rule, null);
        }

        @Override
        public boolean counts() {
            return true;
        }
    }

    /**
     * No further attempt. The job becomes FAILED, a dead letter. It stays until a person replays or discards it, or
     * until retention prunes it.
     *
     * @param reason why the job failed
     * @param failureClass the class of the failure
     * @param rule name of the rule that chose the class
     * @param counts whether the attempt spends one of {@code maxAttempts}; false only for a lost run whose
     *     {@link LossRule} does not count
     * @param prediction how likely another attempt was to succeed; null if unknown
     */
    record Fail(
            FailReason reason,
            FailureClass failureClass,
            String rule,
            boolean counts,
            @Nullable Prediction prediction) implements Decision {

        /** Creates a failure without a prediction. */
        public Fail(FailReason reason, FailureClass failureClass, String rule, boolean counts) {
            this(reason, failureClass, rule, counts, null);
        }
    }

    /**
     * The handler asked to run again later. Nothing failed and nothing is spent. The job becomes PENDING with wait
     * reason SNOOZE, due after {@code delay}.
     *
     * @param delay the delay to wait; 0 to 36,500 days
     * @param rule name of the source of the request; {@code handler} if the handler asked
     */
    record Snooze(Duration delay, String rule) implements Decision {
        /**
         * Checks the delay.
         *
         * @throws NullPointerException if {@code delay} is null
         * @throws IllegalArgumentException if {@code delay} is negative or longer than 36,500 days
         */
        public Snooze {
            Bounds.notNegative("delay", delay);
        }

        /**
         * Creates a snooze that the handler asked for.
         *
         * @throws NullPointerException if {@code delay} is null
         * @throws IllegalArgumentException if {@code delay} is negative or longer than 36,500 days
         */
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

    /**
     * The attempt is given back unspent, because the job is not to blame: its worker stopped or was lost, or a run that
     * the breaker admitted failed with the resource. The job is PENDING again, due after {@code delay}.
     *
     * @param delay the delay to wait; 0 to 36,500 days
     * @param failureClass the class of the failure
     * @param rule name of the cause, such as {@code shutdown} or {@code lost}
     */
    record Release(Duration delay, FailureClass failureClass, String rule) implements Decision {
        /**
         * Checks the delay.
         *
         * @throws NullPointerException if {@code delay} is null
         * @throws IllegalArgumentException if {@code delay} is negative or longer than 36,500 days
         */
        public Release {
            Bounds.notNegative("delay", delay);
        }

        @Override
        public boolean counts() {
            return false;
        }
    }
}
