// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A condition of retries that a person should look at. The leading worker tells listeners once when the alert is raised
 * and once when it is cleared. {@link AlertRules} holds the thresholds. Immutable.
 *
 * @param kind what was measured
 * @param type the job type that the alert is about, or the queue: see the {@link Kind}
 * @param value the measured value when the alert was raised, or, in a cleared alert, when it was cleared; the unit is
 *     given at the {@link Kind}
 * @param threshold the limit that the value exceeded
 * @param since when the alert was raised
 * @param clearedAt when the alert was cleared; null while it is raised
 * @since 0.1.0
 */
public record Alert(
        Kind kind,
        String type,
        double value,
        double threshold,
        Instant since,
        @Nullable Instant clearedAt) {

    /**
     * The measured quantity. All kinds are counted by job type unless they say otherwise, in the whole fleet, over
     * {@link AlertRules#windowMinutes}.
     */
    public enum Kind {
        /**
         * The share of jobs, 0 to 1, whose first attempt failed and is retried. Measured from
         * {@link AlertRules#minJobs} jobs on.
         */
        RETRY_RATE,

        /** The number of retries that were scheduled. */
        RETRY_COUNT,
        /** The number of new dead letters, if it is also more than {@link AlertRules#SPIKE} times the usual number. */
        DEAD_LETTERS,
        /** The mean delay before a retry, in seconds. Measured from 5 retries on. */
        BACKOFF,

        /**
         * The number of queues in which jobs of the type are parked because no live worker has a handler for it. The
         * threshold is 0. The alert is cleared when a worker with a handler has started and the leading worker has
         * unparked the jobs.
         */
        NO_HANDLER,

        /**
         * The share of jobs of a queue, 0 to 1, that started later than its service level allows. Measured from
         * {@link AlertRules#minJobs} jobs on. The threshold is {@link AlertRules#LATE_STARTS}.
         */
        LATE_STARTS,

        /**
         * Jobs of a queue are due, and no live worker offers what they need: 1. The threshold is 0. The alert is about the
         * queue, such as {@code mail@needs:gpu}. It is cleared when a worker offers it, or no job is due any more.
         */
        NO_OFFER
    }

    /** Returns true while the alert is raised, false once it is cleared. */
    public boolean isRaised() {
        return clearedAt == null;
    }

    /**
     * Describes the alert in one English sentence for a person, for example
     * {@code High retry rate for mail: 12 retries (alert above 10)}. The message of a cleared alert begins with
     * {@code Over:}.
     */
    public String message() {
        String what = switch (kind) {
            case RETRY_RATE ->
                format("High retry rate for %s: %.0f %% of jobs (alert above %.0f %%)", 100 * value, 100 * threshold);
            case RETRY_COUNT -> format("High retry rate for %s: %.0f retries (alert above %.0f)", value, threshold);
            case DEAD_LETTERS -> format("Many dead letters of %s: %.0f (alert above %.0f)", value, threshold);
            case NO_HANDLER ->
                String.format(
                        Locale.ROOT,
                        "No worker handles %s: its jobs wait in %.0f %s",
                        type,
                        value,
                        value == 1 ? "queue" : "queues");
            case NO_OFFER -> "No worker offers what jobs of queue " + type + " need";
            case LATE_STARTS ->
                format("Late starts in queue %s: %.0f %% of jobs (alert above %.0f %%)", 100 * value, 100 * threshold);
            case BACKOFF -> format("Long backoff for %s: %.0f s on average (alert above %.0f s)", value, threshold);
        };
        return isRaised() ? what : "Over: " + what;
    }

    private String format(String text, double measured, double limit) {
        return String.format(Locale.ROOT, text, type, measured, limit);
    }
}
