// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.run.RemoteRuns;
import io.reprise.internal.run.RunResult;
import io.reprise.job.JobId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Settles the outcomes of remote runs in group commits, by the {@link Settler}. {@link RemoteRuns} calls it from many threads. While one thread
 * writes, others wait; the next thread writes all waiting outcomes in one call.
 *
 * <p>A slow call, for instance a wait for a row lock, delays only its own outcomes: after {@code PATIENCE} another
 * thread writes beside it.
 */
public final class RemoteOutcomes {

    private static final int MAX_BATCH = 1_000;
    private static final int MAX_WRITERS = 8;
    private static final Duration PATIENCE = Duration.ofMillis(50);

    private enum Phase {
        WAITING,
        UNDER_WAY,
        WRITTEN
    }

    /** One outcome with its progress. Guarded by the monitor of {@code RemoteOutcomes}. */
    private static final class Outcome {
        final Settler.Decided decided;
        Phase phase = Phase.WAITING;
        boolean accepted;

        Outcome(Settler.Decided decided) {
            this.decided = decided;
        }

        JobId job() {
            return decided.id();
        }
    }

    private final Settler settler;
    private final Driver driver;
    private final Set<Outcome> waiting = new LinkedHashSet<>();
    private int writers;

    public RemoteOutcomes(EngineParts parts, Settler settler) {
        this.settler = settler;
        this.driver = parts.driver();
    }

    /** Decides about the run and writes the outcome. Returns false if the lease was gone; then nothing was written. */
    public boolean settle(RunResult end) {
        return settle(List.of(end)).get(0);
    }

    /**
     * Decides about several runs of different jobs and writes their outcomes. Returns false for each
     * run whose lease was gone.
     */
    public List<Boolean> settle(List<RunResult> ends) {
        ends.forEach(settler::advise);
        List<Outcome> mine =
                ends.stream().map(end -> new Outcome(settler.decide(end))).toList();
        synchronized (this) {
            waiting.addAll(mine);
        }
        try {
            List<Outcome> batch = next(mine);
            while (!batch.isEmpty()) {
                write(batch, mine);
                batch = next(mine);
            }
            return mine.stream().map(outcome -> outcome.accepted).toList();
        } finally {
            synchronized (this) {
                mine.forEach(waiting::remove);
            }
            for (Outcome outcome : mine) {
                if (outcome.phase != Phase.WRITTEN) {
                    settler.refund(outcome.decided);
                }
            }
        }
    }

    /**
     * Waits until these outcomes are written, or until this thread may write. Then returns the batch to write: these
     * outcomes and others that wait.
     */
    private synchronized List<Outcome> next(List<Outcome> mine) {
        long since = driver.nanos();
        boolean interrupted = false;
        try {
            while (mine.stream().anyMatch(outcome -> outcome.phase != Phase.WRITTEN)) {
                long left = PATIENCE.toNanos() - (driver.nanos() - since);
                List<Outcome> unwritten = mine.stream()
                        .filter(outcome -> outcome.phase == Phase.WAITING)
                        .toList();
                if (!unwritten.isEmpty() && (writers == 0 || (left <= 0 && writers < MAX_WRITERS))) {
                    writers++;
                    return gather(unwritten);
                }
                try {
                    wait(Math.max(1, left / 1_000_000));
                } catch (InterruptedException e) {
                    // Waits on: another thread may be writing this outcome, and the caller must learn the answer.
                    interrupted = true;
                }
            }
            return List.of();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Collects these outcomes first, then others that wait; each job once, because the store answers by job id. */
    private List<Outcome> gather(List<Outcome> mine) {
        List<Outcome> batch = new ArrayList<>(mine);
        Set<JobId> jobs = batch.stream().map(Outcome::job).collect(Collectors.toCollection(HashSet::new));
        batch.forEach(waiting::remove);
        Iterator<Outcome> others = waiting.iterator();
        while (others.hasNext() && batch.size() < MAX_BATCH) {
            Outcome other = others.next();
            if (jobs.add(other.job())) {
                batch.add(other);
                others.remove();
            }
        }
        batch.forEach(outcome -> outcome.phase = Phase.UNDER_WAY);
        return batch;
    }

    private void write(List<Outcome> batch, List<Outcome> mine) {
        boolean done = false;
        try {
            // Names no lease to close: another server may have made the lease. Only the store knows which leases are
            // empty, and it closes them.
            Settler.Answer answer =
                    settler.write(batch.stream().map(outcome -> outcome.decided).toList(), null, false);
            done = true;
            Set<Settler.Decided> stale = Collections.newSetFromMap(new IdentityHashMap<>());
            stale.addAll(answer.stale());
            batch.forEach(outcome -> outcome.accepted = !stale.contains(outcome.decided));
            settler.tell(answer.accepted());
            answer.stale().forEach(decided -> settler.tellStale(decided, answer.at()));
        } finally {
            written(batch, mine, done);
        }
    }

    private synchronized void written(List<Outcome> batch, List<Outcome> mine, boolean done) {
        writers--;
        batch.forEach(outcome -> outcome.phase = done ? Phase.WRITTEN : Phase.WAITING);
        if (!done) {
            // The thread that wrote receives the exception. The other threads write their outcomes themselves.
            waiting.addAll(batch);
            mine.forEach(waiting::remove);
        }
        notifyAll();
    }
}
