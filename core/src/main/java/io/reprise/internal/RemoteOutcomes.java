// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.store.Claim;
import io.reprise.store.JobStore;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Decides and writes how remote runs ended. Whoever comes while another writes waits, and the next writes for all that wait,
 * in one call.
 */
final class RemoteOutcomes {

    private static final int MAX_BATCH = 1_000;
    private static final int MAX_LEASES = 10_000;

    /** One outcome on its way. Guarded by the lock once it is in a batch. */
    private static final class Outcome {
        final Run run;
        final Settlement settlement;
        boolean written;
        boolean accepted;

        Outcome(Run run, Settlement settlement) {
            this.run = run;
            this.settlement = settlement;
        }
    }

    private final JobStore store;
    private final Decider decider;
    private final Control control;
    private final Events events;
    private final Tallies tallies;
    private final StoreClock clock;
    private final Driver driver;
    private final Consumer<Duration> onDue;
    private final Queue<Outcome> waiting = new ConcurrentLinkedQueue<>();
    private final ReentrantLock lock = new ReentrantLock();

    /** Jobs not settled yet of leases claimed here: a lease of which none is left need not wait to expire. */
    private final Map<Long, Set<JobId>> open = new ConcurrentHashMap<>();

    RemoteOutcomes(EngineParts parts, Decider decider, Consumer<Duration> onDue) {
        this.store = parts.store();
        this.decider = decider;
        this.control = parts.control();
        this.events = parts.events();
        this.tallies = parts.tallies();
        this.clock = parts.clock();
        this.driver = parts.driver();
        this.onDue = onDue;
    }

    void claimed(Claim claim) {
        if (open.size() >= MAX_LEASES) {
            open.clear();
        }
        Set<JobId> jobs = ConcurrentHashMap.newKeySet();
        claim.jobs().forEach(job -> jobs.add(job.id()));
        open.put(claim.token(), jobs);
    }

    /** Decides what becomes of the job and writes it. False if the lease was gone: then nothing was written. */
    boolean settle(Ended end) {
        Settlement settlement = decider.settle(end);
        control.ended(end, settlement);
        Outcome outcome = new Outcome(end.run(), settlement);
        waiting.add(outcome);
        lock.lock();
        try {
            while (!outcome.written) {
                write(gather(outcome));
            }
        } finally {
            waiting.remove(outcome);
            lock.unlock();
        }
        return outcome.accepted;
    }

    /** What waits, with this one; each job once, since the store answers by job. */
    private List<Outcome> gather(Outcome mine) {
        List<Outcome> batch = new ArrayList<>(List.of(mine));
        Set<JobId> jobs = new HashSet<>(Set.of(mine.run.id()));
        waiting.remove(mine);
        Iterator<Outcome> others = waiting.iterator();
        while (others.hasNext() && batch.size() < MAX_BATCH) {
            Outcome other = others.next();
            if (jobs.add(other.run.id())) {
                batch.add(other);
                others.remove();
            }
        }
        return batch;
    }

    private void write(List<Outcome> batch) {
        boolean done = false;
        try {
            List<Settlement> settlements =
                    batch.stream().map(outcome -> outcome.settlement).toList();
            long sent = driver.nanos();
            Settled settled = store.settle(settlements, closed(batch));
            clock.heard(settled.at(), sent);
            done = true;
            for (Outcome outcome : batch) {
                outcome.written = true;
                outcome.accepted = !settled.stale().contains(outcome.run.id());
                tell(outcome, settled);
            }
        } finally {
            if (!done) {
                // The one who wrote hears of it; the others try for themselves.
                waiting.addAll(batch.subList(1, batch.size()));
            }
        }
    }

    private List<Long> closed(List<Outcome> batch) {
        Set<Long> closed = new HashSet<>();
        for (Outcome outcome : batch) {
            Set<JobId> jobs = open.get(outcome.run.token());
            if (jobs != null) {
                jobs.remove(outcome.run.id());
                if (jobs.isEmpty()) {
                    open.remove(outcome.run.token());
                    closed.add(outcome.run.token());
                }
            }
        }
        return List.copyOf(closed);
    }

    private void tell(Outcome outcome, Settled settled) {
        Job job = outcome.run.job;
        if (!outcome.accepted) {
            events.stale(job, settled.at());
        } else if (settled.cancelled().contains(job.id())) {
            events.cancelled(job, outcome.settlement, settled.at());
        } else {
            tallies.settled(job, outcome.settlement, Map.of());
            events.settled(job, outcome.settlement, settled.at());
            if (outcome.settlement.next() instanceof Settlement.Wait wait) {
                onDue.accept(wait.delay());
            }
        }
    }
}
