// SPDX-License-Identifier: Apache-2.0
package io.reprise.settings;

import io.reprise.control.BreakerSettings;
import io.reprise.control.BudgetSettings;
import io.reprise.insight.AlertRules;
import io.reprise.job.JobSpec;
import io.reprise.retry.RetryPolicy;
import io.reprise.text.Bounds;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Settings in {@link FleetSettings} that apply to every job and worker. What is null is as in the layer below.
 * Immutable.
 *
 * @param policy fields of the retry policy below those of job, type, resource and queue
 * @param retries whether failures are retried at all; if false, a failure that would be retried fails the job with
 *     reason DISABLED
 * @param poll longest time between two looks for work; 10 ms to 1 minute
 * @param concurrency jobs that a worker runs at once at most; 1 to 10,000. A worker never exceeds the number that it
 *     was started with
 * @param pool connections that each process has to the database at most; 2 to 100. See {@link
 *     io.reprise.store.JobStore#poolSize}
 * @param keep how long ended jobs and the audit log are kept
 * @param alerts thresholds of alerts
 * @param breaker settings of the breaker of each resource
 * @param budget settings of the retry budget of each resource
 * @param ceilings upper limits of every job and queue
 * @since 0.1.0
 */
public record DefaultSettings(
        RetryPolicy policy,
        @Nullable Boolean retries,
        @Nullable Duration poll,
        @Nullable Integer concurrency,
        @Nullable Integer pool,
        Keep keep,
        @Nullable AlertRules alerts,
        @Nullable BreakerSettings breaker,
        @Nullable BudgetSettings budget,
        Ceilings ceilings) {

    /** Sets nothing. */
    public static final DefaultSettings NONE = new DefaultSettings(
            RetryPolicy.unset(), null, null, null, null, Keep.NONE, null, null, null, Ceilings.NONE);

    private static final Duration SHORTEST_POLL = Duration.ofMillis(10);
    private static final Duration LONGEST_POLL = Duration.ofMinutes(1);
    private static final int MOST_JOBS = 10_000;
    private static final int LEAST_CONNECTIONS = 2;
    private static final int MOST_CONNECTIONS = 100;

    /**
     * How long ended jobs and the audit log are kept: 0 to 36,500 days each. What is null is as in the layer below.
     *
     * @param finished succeeded and cancelled jobs
     * @param failed dead letters
     * @param audit entries of the audit log
     */
    public record Keep(
            @Nullable Duration finished,
            @Nullable Duration failed,
            @Nullable Duration audit) {

        /** Sets nothing. */
        public static final Keep NONE = new Keep(null, null, null);

        /**
         * Checks all values.
         *
         * @throws IllegalArgumentException if a value is outside its bounds
         */
        public Keep {
            requireAge("keepFinished", finished);
            requireAge("keepFailed", failed);
            requireAge("keepAudit", audit);
        }

        private static void requireAge(String field, @Nullable Duration age) {
            if (age != null && (age.isNegative() || age.compareTo(JobSpec.MAX_DELAY) > 0)) {
                throw Bounds.refused(field, age, "0s to " + JobSpec.MAX_DELAY);
            }
        }

        Keep orElse(Keep below) {
            return new Keep(
                    finished == null ? below.finished : finished,
                    failed == null ? below.failed : failed,
                    audit == null ? below.audit : audit);
        }
    }

    /**
     * Checks all values.
     *
     * @throws IllegalArgumentException if a value is outside its bounds
     */
    public DefaultSettings {
        if (poll != null && (poll.compareTo(SHORTEST_POLL) < 0 || poll.compareTo(LONGEST_POLL) > 0)) {
            throw Bounds.refused("poll", poll, SHORTEST_POLL + " to " + LONGEST_POLL);
        }
        if (concurrency != null) {
            Bounds.integer("concurrency", concurrency, 1, MOST_JOBS);
        }
        if (pool != null) {
            Bounds.integer("pool", pool, LEAST_CONNECTIONS, MOST_CONNECTIONS);
        }
    }

    /** Joins these settings with those below, field by field. */
    DefaultSettings orElse(DefaultSettings below) {
        return new DefaultSettings(
                policy.orElse(below.policy),
                retries == null ? below.retries : retries,
                poll == null ? below.poll : poll,
                concurrency == null ? below.concurrency : concurrency,
                pool == null ? below.pool : pool,
                keep.orElse(below.keep),
                alerts == null ? below.alerts : alerts,
                breaker == null ? below.breaker : breaker,
                budget == null ? below.budget : budget,
                ceilings.orElse(below.ceilings));
    }
}
