// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.insight.CostEntry;
import io.reprise.insight.TraceParent;
import io.reprise.internal.settle.Advised;
import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.step.Step;
import io.reprise.store.JobStore;
import io.reprise.store.LogPart;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One claimed job in this worker. It starts at most once and ends exactly once: by its handler, by the {@code Runner}
 * that gives up on a stuck handler, or given back before it starts. Handler threads and roles call it. Thread-safe.
 */
public final class Run {

    /** Why a run was told to stop. The first reason counts. */
    public enum Stop {
        TIMEOUT,
        CANCELLED,
        LOST,
        SHUTDOWN
    }

    private enum Phase {
        WAITING,
        RUNNING,
        ENDED
    }

    /** The job as it was claimed, with the attempts that steps of this run granted. */
    public volatile Job job;

    public final HeldLease lease;
    /** Whether a breaker holds jobs of the resource back and admitted this run. */
    public boolean admitted;
    /** Why the stored job cannot be read; null if it can. */
    final @Nullable String damage;

    /** The lines that the handler wrote. */
    RunLog log = new RunLog();

    private Phase phase = Phase.WAITING;
    private @Nullable Thread thread;
    private @Nullable Runnable interrupt;
    private @Nullable Stop stop;
    private long startedNanos;
    private boolean settled;
    private boolean begun;
    private boolean handlerEnded;
    private boolean offExecutor;
    private boolean placeFreed;
    private long mustEndNanos;
    private Map<String, Double> costs = Map.of();
    private @Nullable Advised advised;
    private @Nullable Suspension suspension;
    private long steps;
    private boolean inStep;
    private @Nullable Supplier<TraceParent> trace;

    Run(Job job, HeldLease lease, boolean admitted, @Nullable String damage) {
        this.job = job;
        this.lease = lease;
        this.admitted = admitted;
        this.damage = damage;
    }

    public JobId id() {
        return job.id();
    }

    public long token() {
        return lease.token;
    }

    int attempt() {
        return job.attempts() + 1;
    }

    /** Starts the run. Returns false if it was given back before. */
    synchronized boolean begin(Thread runner, long nanos, long mustEnd) {
        if (phase != Phase.WAITING) {
            return false;
        }
        phase = Phase.RUNNING;
        begun = true;
        thread = runner;
        startedNanos = nanos;
        mustEndNanos = mustEnd;
        return true;
    }

    /**
     * Ends the run. Returns true for exactly one caller, which reports the outcome. Clears an interrupt
     * that was meant for this run.
     */
    synchronized boolean end() {
        if (phase == Phase.ENDED) {
            return false;
        }
        phase = Phase.ENDED;
        if (thread == Thread.currentThread()) {
            Thread.interrupted();
        }
        thread = null;
        interrupt = null;
        return true;
    }

    /** Notes that the handler has ended. Returns false if it had ended before: a deferred handler may say so twice. */
    synchronized boolean handlerEnds() {
        boolean first = !handlerEnded;
        handlerEnded = true;
        return first;
    }

    /** Notes that the bench is done with the run. Returns whether the run's place becomes free. */
    synchronized boolean leavesExecutor() {
        offExecutor = true;
        return freesPlace();
    }

    /**
     * Returns true once, when neither the bench nor the handler needs the run's place any more. A run that was given up
     * keeps its place until its handler ends.
     */
    synchronized boolean freesPlace() {
        if (placeFreed || !offExecutor || (begun && !handlerEnded)) {
            return false;
        }
        placeFreed = true;
        return true;
    }

    /**
     * Lets the run go on without its thread. From now on {@code interrupt} replaces the interrupt of the thread, even
     * for a stop that has already come.
     */
    void leaveThread(Runnable interrupt) {
        boolean stopped;
        synchronized (this) {
            if (phase != Phase.RUNNING) {
                return;
            }
            this.thread = null;
            this.interrupt = interrupt;
            stopped = stop != null;
        }
        if (stopped) {
            Thread.interrupted();
            interrupt.run();
        }
    }

    /** Ends a run that has not started. Returns whether it did. */
    synchronized boolean abandonIfWaiting() {
        if (phase != Phase.WAITING) {
            return false;
        }
        phase = Phase.ENDED;
        return true;
    }

    /**
     * Interrupts the handler once. The first reason counts, because a second interrupt would
     * disturb the handler's clean-up.
     */
    boolean stop(Stop reason) {
        Runnable instead;
        synchronized (this) {
            if (stop != null || phase == Phase.ENDED) {
                return false;
            }
            stop = reason;
            if (thread != null) {
                thread.interrupt();
            }
            instead = interrupt;
        }
        // Outside the lock, because the callback may end the run at once.
        if (instead != null) {
            instead.run();
        }
        return true;
    }

    public synchronized @Nullable Stop stopReason() {
        return stop;
    }

    synchronized boolean isWaiting() {
        return phase == Phase.WAITING;
    }

    synchronized boolean hasEnded() {
        return phase == Phase.ENDED;
    }

    synchronized long startedNanos() {
        return startedNanos;
    }

    /** Whether the run is under way and must end before this time. */
    synchronized boolean mustEndBefore(long nanos) {
        return phase == Phase.RUNNING && mustEndNanos - nanos < 0;
    }

    /** When the handler is interrupted if it still runs. */
    synchronized long mustEnd() {
        return mustEndNanos;
    }

    /**
     * Notes that the handler wrote the success in its own transaction. Only the store knows whether
     * that transaction committed.
     */
    synchronized void settledByCaller() {
        settled = true;
    }

    public synchronized boolean isSettledByCaller() {
        return settled;
    }

    /** Keeps what an advisor said about the failure of this run. */
    public synchronized void advised(Advised said) {
        this.advised = said;
    }

    /** Returns what an advisor said about the failure of this run; null if none was asked. */
    public synchronized @Nullable Advised advised() {
        return advised;
    }

    /** Adds to the cost of the run. Returns false if the run would exceed {@link CostEntry#MAX_UNITS} units. */
    synchronized boolean spend(String unit, double amount) {
        Map<String, Double> sums = new HashMap<>(costs);
        sums.merge(unit, amount, Double::sum);
        if (sums.size() > CostEntry.MAX_UNITS) {
            return false;
        }
        costs = sums;
        return true;
    }

    public synchronized Map<String, Double> costs() {
        return costs;
    }

    synchronized void tracedAs(Supplier<TraceParent> span) {
        this.trace = span;
    }

    /** Returns the tags of the job with the trace of this run; null if the run is not traced. */
    public @Nullable Set<String> tracedTags() {
        Supplier<TraceParent> span;
        synchronized (this) {
            span = trace;
        }
        try {
            return span == null ? null : span.get().addRunTo(job.spec().tags());
        } catch (RuntimeException e) {
            // Tracing must not change what becomes of the job.
            return null;
        }
    }

    /** Ends the run inside a step. The first reason counts. */
    synchronized void suspend(Suspension why) {
        suspension = suspension == null ? why : suspension;
    }

    /** Returns why the run ended inside a step; null if it did not. */
    public synchronized @Nullable Suspension suspension() {
        return suspension;
    }

    /** Returns the step whose failure ended the run; null if none did. */
    public @Nullable Step<?> failedStep() {
        return suspension() instanceof Suspension.Failed failed ? failed.step() : null;
    }

    /** Keeps the attempts that a step granted, as the store has them. */
    void granted(int granted) {
        JobCounts c = job.counts();
        JobCounts counts =
                new JobCounts(c.attempts(), c.losses(), c.interruptions(), c.snoozes(), Math.max(granted, c.granted()));
        job = new Job(job.id(), job.spec(), job.status(), counts, job.times());
    }

    /** Begins a step. Returns its number in this run. */
    synchronized long enterStep() {
        inStep = true;
        return ++steps;
    }

    synchronized void leaveStep() {
        inStep = false;
    }

    /** Whether this step is under way. */
    synchronized boolean isInStep(long serial) {
        return inStep && steps == serial;
    }

    /** Writes the new log lines of these runs in one call, if there are any. */
    public static void writeLogs(Collection<Run> runs, JobStore store) {
        Map<LogPart, Run> parts = new LinkedHashMap<>();
        for (Run run : runs) {
            LogPart part = run.log.unwritten(run.id(), run.token());
            if (part != null) {
                parts.put(part, run);
            }
        }
        if (!parts.isEmpty()) {
            store.writeLog(List.copyOf(parts.keySet()));
            parts.forEach((part, run) -> run.log.written(part));
        }
    }

    /** Returns the stack trace of a handler that does not end. */
    synchronized StackTraceElement[] stackTrace() {
        return thread == null ? new StackTraceElement[0] : thread.getStackTrace();
    }
}
