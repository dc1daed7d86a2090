// SPDX-License-Identifier: Apache-2.0
package io.reprise.remote;

import io.reprise.RemoteWorkers;
import io.reprise.failure.Failure;
import io.reprise.insight.CostEntry;
import io.reprise.job.JobSignal;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The report of a remote worker on the end of one run, for {@link RemoteWorkers#report}. Immutable.
 *
 * @since 0.1.0
 */
public final class RemoteReport {

    /**
     * The answer to one report.
     *
     * @param refusal null if the report was accepted, now or when it was made before; otherwise the reason why nothing
     *     was changed
     */
    public record Answer(@Nullable RuntimeException refusal) {

        /** Returns whether the report was accepted. */
        public boolean isAccepted() {
            return refusal == null;
        }
    }

    private final RemoteLease.Key key;
    private final @Nullable String result;
    private final @Nullable Failure failure;
    private final @Nullable JobSignal signal;
    private final boolean started;
    private final Map<String, Double> costs;

    private RemoteReport(
            RemoteLease.Key key,
            @Nullable String result,
            @Nullable Failure failure,
            @Nullable JobSignal signal,
            boolean started,
            Map<String, Double> costs) {
        this.key = Objects.requireNonNull(key, "key");
        this.result = result;
        this.failure = failure;
        this.signal = signal;
        this.started = started;
        this.costs = costs;
    }

    /**
     * The run succeeded, and the job is SUCCEEDED.
     *
     * @param result JSON text, stored as the result of the job; null for none
     */
    public static RemoteReport completed(RemoteLease.Key key, @Nullable String result) {
        return new RemoteReport(key, result, null, null, true, Map.of());
    }

    /**
     * The run failed. The retry policy decides whether the job is retried.
     *
     * @throws NullPointerException if {@code failure} is null
     */
    public static RemoteReport failed(RemoteLease.Key key, Failure failure) {
        return new RemoteReport(key, null, Objects.requireNonNull(failure, "failure"), null, true, Map.of());
    }

    /**
     * The worker asks for the job again after the delay. Nothing failed, and no attempt is spent.
     *
     * @param delay 0 to 36,500 days
     * @throws IllegalArgumentException if {@code delay} is outside these bounds
     */
    public static RemoteReport snoozed(RemoteLease.Key key, Duration delay) {
        return new RemoteReport(key, null, null, JobSignal.snooze(delay), true, Map.of());
    }

    /**
     * The job ends as CANCELLED.
     *
     * @param why the reason, kept with the attempt
     */
    public static RemoteReport cancelled(RemoteLease.Key key, String why) {
        return new RemoteReport(key, null, null, JobSignal.cancel(why), true, Map.of());
    }

    /** The worker did not start the job and gives it back unchanged. No attempt is spent and no history is written. */
    public static RemoteReport released(RemoteLease.Key key) {
        return new RemoteReport(key, null, null, null, false, Map.of());
    }

    /**
     * Returns this report with the cost of the run, for {@link io.reprise.Reprise#costs}. The last call wins. The time
     * of a run is measured in any case.
     *
     * @param costs amounts by unit, such as {@code usd}; at most {@value CostEntry#MAX_UNITS} units, see
     *     {@link CostEntry#requireCost}
     * @throws IllegalArgumentException if there are too many units, or a unit or an amount is not allowed
     */
    public RemoteReport costing(Map<String, Double> costs) {
        if (costs.size() > CostEntry.MAX_UNITS) {
            throw new IllegalArgumentException(
                    "A run may report its cost in " + CostEntry.MAX_UNITS + " units at most, not " + costs.size());
        }
        costs.forEach(CostEntry::requireCost);
        return new RemoteReport(key, result, failure, signal, started, Map.copyOf(costs));
    }

    /** Returns the reported cost by unit; empty if none was reported. */
    public Map<String, Double> costs() {
        return costs;
    }

    /** Returns the lease that the run had. */
    public RemoteLease.Key key() {
        return key;
    }

    /** Returns the result of a run that succeeded as JSON text; null if there is none. */
    public @Nullable String result() {
        return result;
    }

    /** Returns the error of a failed run; null for every other report. */
    public @Nullable Failure failure() {
        return failure;
    }

    /** Returns the signal of a snoozed or cancelled run; null for every other report. */
    public @Nullable JobSignal signal() {
        return signal;
    }

    /** Returns whether the run was started; false only for {@link #released}. */
    public boolean isStarted() {
        return started;
    }
}
