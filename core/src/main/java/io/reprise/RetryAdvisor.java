// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.failure.Failure;
import io.reprise.job.Job;
import io.reprise.retry.AttemptHistory;
import io.reprise.retry.Decision;
import io.reprise.text.Bounds;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Code that may overrule the retry policy after a failure, for what a policy cannot say as data. Registered by
 * {@link RepriseBuilder#retryAdvisor(RetryAdvisor)}. It is asked once for each failed run of a worker or remote worker,
 * not for lost workers, snoozes, cancellations and shutdowns.
 *
 * <p>It runs on a thread of its own and must be quick: advice that takes longer than a second is ignored, and its thread
 * is interrupted. Then, and if it throws or returns null, the decision of the policy stands. All of this is logged and
 * told to {@link JobListener#onAdvisorFailure}. The history of the job names the advisor in the rule of the decision.
 * Implementations are thread-safe.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface RetryAdvisor {

    /**
     * Gives advice about a failure.
     *
     * @return {@link Advice#keep} to leave the decision to the policy
     */
    Advice advise(Situation situation);

    /**
     * A failure that is to be decided. Immutable.
     *
     * @param job the job as it was when it was claimed
     * @param failure the failure of the run
     * @param history the past of the job, without this run
     * @param decided the decision of the policy
     */
    record Situation(Job job, Failure failure, AttemptHistory history, Decision decided) {}

    /**
     * The advice of an advisor. Immutable.
     *
     * @param kind what to do
     * @param delay how long to wait; null unless the kind is RETRY or SNOOZE
     */
    record Advice(Kind kind, @Nullable Duration delay) {

        /** The kinds of advice. */
        public enum Kind {
            /** The decision of the policy stands. */
            KEEP,
            /** Another attempt after the delay, if the policy has attempts and time left. */
            RETRY,
            /** Nothing was spent: run again after the delay, if that is before the deadline. */
            SNOOZE,
            /** The job fails as PERMANENT. */
            FAIL,
            /** The job ends as CANCELLED. */
            CANCEL
        }

        private static final Advice KEEP = new Advice(Kind.KEEP, null);

        /** Leaves the decision to the policy. */
        public static Advice keep() {
            return KEEP;
        }

        /**
         * Retries the job after this delay, also if the policy calls the failure permanent. If the attempts are spent, or
         * the retry would come after the deadline, the decision of the policy stands.
         *
         * @param delay 0 to 36,500 days
         * @throws IllegalArgumentException if {@code delay} is outside these bounds
         */
        public static Advice retryAfter(Duration delay) {
            return new Advice(Kind.RETRY, Bounds.notNegative("delay", delay));
        }

        /**
         * Runs the job again after this delay without spending an attempt. If that would be after the deadline, the
         * decision of the policy stands.
         *
         * @param delay 0 to 36,500 days
         * @throws IllegalArgumentException if {@code delay} is outside these bounds
         */
        public static Advice snooze(Duration delay) {
            return new Advice(Kind.SNOOZE, Bounds.notNegative("delay", delay));
        }

        /** Fails the job for good. */
        public static Advice fail() {
            return new Advice(Kind.FAIL, null);
        }

        /** Ends the job as CANCELLED. */
        public static Advice cancel() {
            return new Advice(Kind.CANCEL, null);
        }
    }
}
