// SPDX-License-Identifier: Apache-2.0
package io.reprise.remote;

import io.reprise.RemoteWorkers;
import io.reprise.failure.Failure;
import io.reprise.insight.CostEntry;
import io.reprise.insight.TraceParent;
import io.reprise.job.Job;
import io.reprise.job.JobSignal;
import io.reprise.step.Step;
import io.reprise.text.JsonSyntax;
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
     * @param job the job as the report left it, with payload and result as they were before they were stored. Null if only
     *     the store knows: after a refusal, after a report that was made before, and if the job did not succeed. Progress that
     *     another process stored may be missing
     */
    public record Answer(
            @Nullable RuntimeException refusal, @Nullable Job job) {

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
    private final @Nullable Step<?> step;
    private final @Nullable RemoteLog log;
    private final @Nullable TraceParent trace;

    private RemoteReport(
            RemoteLease.Key key,
            @Nullable String result,
            @Nullable Failure failure,
            @Nullable JobSignal signal,
            boolean started,
            Map<String, Double> costs,
            @Nullable Step<?> step,
            @Nullable RemoteLog log,
            @Nullable TraceParent trace) {
        this.key = Objects.requireNonNull(key, "key");
        this.result = result;
        this.failure = failure;
        this.signal = signal;
        this.started = started;
        this.costs = costs;
        this.step = step;
        this.log = log;
        this.trace = trace;
    }

    /**
     * The run succeeded, and the job is SUCCEEDED.
     *
     * @param result JSON text, stored as the result of the job; null for none
     * @throws IllegalArgumentException if {@code result} is not JSON
     */
    public static RemoteReport completed(RemoteLease.Key key, @Nullable String result) {
        String checked = result == null ? null : JsonSyntax.require("result", result);
        return new RemoteReport(key, checked, null, null, true, Map.of(), null, null, null);
    }

    /**
     * The run failed. The retry policy decides whether the job is retried.
     *
     * @throws NullPointerException if {@code failure} is null
     */
    public static RemoteReport failed(RemoteLease.Key key, Failure failure) {
        return new RemoteReport(
                key, null, Objects.requireNonNull(failure, "failure"), null, true, Map.of(), null, null, null);
    }

    /**
     * The worker asks for the job again after the delay. Nothing failed, and no attempt is spent.
     *
     * @param delay 0 to 36,500 days
     * @throws IllegalArgumentException if {@code delay} is outside these bounds
     */
    public static RemoteReport snoozed(RemoteLease.Key key, Duration delay) {
        return new RemoteReport(key, null, null, JobSignal.snooze(delay), true, Map.of(), null, null, null);
    }

    /**
     * The job ends as CANCELLED.
     *
     * @param why the reason, kept with the attempt
     */
    public static RemoteReport cancelled(RemoteLease.Key key, String why) {
        return new RemoteReport(key, null, null, JobSignal.cancel(why), true, Map.of(), null, null, null);
    }

    /** The worker did not start the job and gives it back unchanged. No attempt is spent and no history is written. */
    public static RemoteReport released(RemoteLease.Key key) {
        return new RemoteReport(key, null, null, null, false, Map.of(), null, null, null);
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
        return new RemoteReport(key, result, failure, signal, started, Map.copyOf(costs), step, log, trace);
    }

    /**
     * Returns this report of a failure as one of a step. The policy of the step comes before that of the job, and its
     * resource takes the blame. What is stored of the step decides the rest. A step that another run has started has an
     * unknown outcome. A step that this run has started runs at most once. A step that has failed for good fails the job
     * with its reason. The last call wins.
     *
     * @throws IllegalStateException if the report is not one of a failure
     */
    public RemoteReport in(Step<?> failed) {
        if (failure == null) {
            throw new IllegalStateException("Only a run that failed has a step that failed, not the run of " + key);
        }
        return new RemoteReport(key, result, failure, signal, started, costs, failed, log, trace);
    }

    /** Returns this report with new log lines of the run. The last call wins. */
    public RemoteReport logging(RemoteLog lines) {
        return new RemoteReport(key, result, failure, signal, started, costs, step, lines, trace);
    }

    /** Returns the new log lines of the run; null if there are none. */
    public @Nullable RemoteLog log() {
        return log;
    }

    /**
     * Returns this report with the trace of the run. The next run of a job that did not succeed can link to it, see
     * {@link TraceParent#ofRun}. The last call wins.
     */
    public RemoteReport traced(TraceParent span) {
        return new RemoteReport(key, result, failure, signal, started, costs, step, log, span);
    }

    /** Returns the trace of the run; null if none was reported. */
    public @Nullable TraceParent trace() {
        return trace;
    }

    /** Returns the step in which the run failed; null if it did not fail in one. */
    public @Nullable Step<?> step() {
        return step;
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
