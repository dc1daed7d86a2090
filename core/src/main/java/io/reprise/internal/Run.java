// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Job;
import io.reprise.JobId;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One claimed job on its way through this worker. It starts at most once and ends exactly once, whoever ends it: its
 * handler, a timeout that ran out of patience, or a shutdown before it began.
 */
final class Run {

    /** Why a run was told to stop. The first reason counts. */
    enum Stop {
        TIMEOUT,
        CANCELLED,
        LOST,
        SHUTDOWN
    }

    static final int MAX_UNITS = 8;

    private enum Phase {
        WAITING,
        RUNNING,
        ENDED
    }

    final Job job;
    final Lease lease;
    /** Whether a breaker holds jobs of its resource back and let it through. */
    boolean admitted;
    /** Why the store does not understand the job; null if it does. */
    final @Nullable String damage;

    private Phase phase = Phase.WAITING;
    private @Nullable Thread thread;
    private @Nullable Runnable interrupt;
    private @Nullable Stop stop;
    private long startedNanos;
    private boolean settled;
    private long mustEndNanos;
    private Map<String, Double> costs = Map.of();

    Run(Job job, Lease lease, boolean admitted, @Nullable String damage) {
        this.job = job;
        this.lease = lease;
        this.admitted = admitted;
        this.damage = damage;
    }

    JobId id() {
        return job.id();
    }

    long token() {
        return lease.token;
    }

    int attempt() {
        return job.attempts() + 1;
    }

    /** False if it was given back before it could start. */
    synchronized boolean begin(Thread runner, long nanos, long mustEnd) {
        if (phase != Phase.WAITING) {
            return false;
        }
        phase = Phase.RUNNING;
        thread = runner;
        startedNanos = nanos;
        mustEndNanos = mustEnd;
        return true;
    }

    /** True for exactly one caller, who reports how it ended. Clears an interrupt that was meant for this run. */
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

    /** Goes on without its thread; {@code interrupt} takes the place of the thread's, also of one that has come already. */
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

    /** Gives back a run that has not started. */
    synchronized boolean abandonIfWaiting() {
        if (phase != Phase.WAITING) {
            return false;
        }
        phase = Phase.ENDED;
        return true;
    }

    /** Interrupts the handler, once: the first reason counts, and a second interrupt would disturb its clean-up. */
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
        // Without the lock: whoever is told may say at once that the run is over.
        if (instead != null) {
            instead.run();
        }
        return true;
    }

    synchronized @Nullable Stop stopReason() {
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

    /** Whether it runs, and must have ended by then. */
    synchronized boolean mustEndBefore(long nanos) {
        return phase == Phase.RUNNING && mustEndNanos - nanos < 0;
    }

    /** When the handler is interrupted if it still runs. */
    synchronized long mustEnd() {
        return mustEndNanos;
    }

    /** Its success was written in a caller's transaction; whether that committed is for the store to say. */
    synchronized void settledByCaller() {
        settled = true;
    }

    synchronized boolean isSettledByCaller() {
        return settled;
    }

    /** Adds to what the run has cost. False if it has reported in as many units as it may. */
    synchronized boolean spend(String unit, double amount) {
        Map<String, Double> sums = new HashMap<>(costs);
        sums.merge(unit, amount, Double::sum);
        if (sums.size() > MAX_UNITS) {
            return false;
        }
        costs = sums;
        return true;
    }

    synchronized Map<String, Double> costs() {
        return costs;
    }

    /** Where a handler that does not end is stuck. */
    synchronized StackTraceElement[] whereabouts() {
        return thread == null ? new StackTraceElement[0] : thread.getStackTrace();
    }
}
