// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.run.RemoteRuns;
import io.reprise.internal.run.RunResult;
import io.reprise.job.JobId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Settles the outcomes of remote runs in group commits, by the {@link Settler}. {@link RemoteRuns} calls it from many threads. While one thread
 * writes, others wait; the next thread writes all waiting outcomes in one call. A write wakes the threads whose outcomes it
 * wrote, and one more, which writes next. The others sleep on.
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

    /** One outcome with its progress. Guarded by the lock of {@code RemoteOutcomes}. */
    private static final class Outcome {
        final Settler.Decided decided;

        /** Wakes the thread that waits for this outcome. */
        final Condition changed;

        Phase phase = Phase.WAITING;

        /** The accepted outcome; null if the lease was gone. */
        Settler.@Nullable Accepted accepted;

        Outcome(Settler.Decided decided, Condition changed) {
            this.decided = decided;
            this.changed = changed;
        }

        JobId job() {
            return decided.id();
        }
    }

    private final Settler settler;
    private final Driver driver;
    private final ReentrantLock lock = new ReentrantLock();
    private final Set<Outcome> waiting = new LinkedHashSet<>();
    private int writers;

    public RemoteOutcomes(EngineParts parts, Settler settler) {
        this.settler = settler;
        this.driver = parts.driver();
    }

    /** Decides about the run and writes the outcome. Returns false if the lease was gone; then nothing was written. */
    public boolean settle(RunResult end) {
        return settle(List.of(end)).get(0) != null;
    }

    /**
     * Decides about several runs of different jobs and writes their outcomes. Returns what the store accepted; null for
     * each run whose lease was gone.
     */
    public List<Settler.@Nullable Accepted> settle(List<RunResult> ends) {
        ends.forEach(settler::advise);
        Condition changed = lock.newCondition();
        List<Outcome> mine = ends.stream()
                .map(end -> new Outcome(settler.decide(end), changed))
                .toList();
        enter(mine);
        try {
            List<Outcome> batch = next(mine, changed);
            while (!batch.isEmpty()) {
                write(batch, mine);
                batch = next(mine, changed);
            }
            List<Settler.@Nullable Accepted> accepted = new ArrayList<>();
            mine.forEach(outcome -> accepted.add(outcome.accepted));
            return accepted;
        } finally {
            leave(mine);
            for (Outcome outcome : mine) {
                if (outcome.phase != Phase.WRITTEN) {
                    settler.refund(outcome.decided);
                }
            }
        }
    }

    private void enter(List<Outcome> mine) {
        lock.lock();
        try {
            waiting.addAll(mine);
        } finally {
            lock.unlock();
        }
    }

    private void leave(List<Outcome> mine) {
        lock.lock();
        try {
            mine.forEach(waiting::remove);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until these outcomes are written, or until this thread may write. Then returns the batch to write: these
     * outcomes and others that wait.
     */
    private List<Outcome> next(List<Outcome> mine, Condition changed) {
        long since = driver.nanos();
        boolean interrupted = false;
        lock.lock();
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
                    changed.await(left > 0 ? left : PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    // Waits on: another thread may be writing this outcome, and the caller must learn the answer.
                    interrupted = true;
                }
            }
            return List.of();
        } finally {
            lock.unlock();
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
            IdentityHashMap<Settler.Decided, Settler.Accepted> accepted = new IdentityHashMap<>();
            answer.accepted().forEach(written -> accepted.put(written.decided(), written));
            batch.forEach(outcome -> outcome.accepted = accepted.get(outcome.decided));
            settler.tell(answer.accepted());
            answer.stale().forEach(decided -> settler.tellStale(decided, answer.at()));
        } finally {
            written(batch, mine, done);
        }
    }

    private void written(List<Outcome> batch, List<Outcome> mine, boolean done) {
        lock.lock();
        try {
            writers--;
            for (Outcome outcome : batch) {
                outcome.phase = done ? Phase.WRITTEN : Phase.WAITING;
                outcome.changed.signal();
            }
            if (!done) {
                // The thread that wrote receives the exception. The other threads write their outcomes themselves.
                waiting.addAll(batch);
                mine.forEach(waiting::remove);
            }
            // The thread that waits longest writes next.
            waiting.stream().findFirst().ifPresent(next -> next.changed.signal());
        } finally {
            lock.unlock();
        }
    }
}
