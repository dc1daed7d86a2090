// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Attempt;
import io.reprise.RepriseException;
import io.reprise.store.JobStore;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides outcomes and writes them in group commits: while one batch is being written the next gathers. A batch that
 * could not be written is written again, decided as it was; what cannot be written with others is tried alone, so that
 * one unwritable outcome does not hold up the rest. Nothing is dropped.
 */
final class Committer implements Role {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.engine");
    private static final Duration UNTIL_WOKEN = Duration.ofSeconds(10);
    private static final int MAX_BATCH = 1_000;
    private static final int FAILURES_BEFORE_SPLIT = 3;

    /** An outcome on its way to the store, with the decision that was made about it. */
    private record Verdict(Run run, Settlement settlement) {}

    private final JobStore store;
    private final Driver driver;
    private final LeaseBook book;
    private final Decider decider;
    private final Events events;
    private final StoreClock clock;
    private final OutageRest outage;
    private final Consumer<Duration> onDue;
    private final Runnable onFree;

    private final ConcurrentLinkedQueue<Ended> arrived = new ConcurrentLinkedQueue<>();
    private final AtomicInteger unsettled = new AtomicInteger();
    private final Deque<List<Verdict>> unwritten = new ArrayDeque<>();
    private boolean mayBeWritten;

    /**
     * @param onDue told how soon a job that goes back to waiting will be due
     * @param onFree told that slots became free
     */
    Committer(EngineParts parts, LeaseBook book, Decider decider, Consumer<Duration> onDue, Runnable onFree) {
        this.store = parts.store();
        this.driver = parts.driver();
        this.book = book;
        this.decider = decider;
        this.events = parts.events();
        this.clock = parts.clock();
        this.outage = new OutageRest("committer", parts.random());
        this.onDue = onDue;
        this.onFree = onFree;
    }

    @Override
    public String name() {
        return "committer";
    }

    void accept(Ended end) {
        unsettled.incrementAndGet();
        arrived.add(end);
        driver.wake(this);
    }

    boolean isIdle() {
        return unsettled.get() == 0;
    }

    @Override
    public Duration step() {
        try {
            gather();
            List<Verdict> batch = unwritten.peekFirst();
            if (batch == null) {
                return UNTIL_WOKEN;
            }
            write(batch);
            unwritten.removeFirst();
            mayBeWritten = false;
            outage.worked();
            return Duration.ZERO;
        } catch (StoreException e) {
            mayBeWritten = true;
            Duration rest = outage.failed(e);
            split();
            return rest;
        }
    }

    /** Takes what has arrived, and decides it, only when nothing waits to be written again. */
    private void gather() {
        if (!unwritten.isEmpty()) {
            return;
        }
        List<Verdict> batch = new ArrayList<>();
        Ended end;
        while (batch.size() < MAX_BATCH && (end = arrived.poll()) != null) {
            batch.add(decide(end));
        }
        if (!batch.isEmpty()) {
            unwritten.add(batch);
        }
    }

    private Verdict decide(Ended end) {
        Ended known = end.run().isSettledByCaller() ? afterCallersTransaction(end) : end;
        return new Verdict(end.run(), decider.settle(known));
    }

    /** A handler that completed its job in a transaction of its own and then returned has succeeded only if it committed. */
    private Ended afterCallersTransaction(Ended end) {
        if (end.error() != null || wasAccepted(end.run())) {
            return end;
        }
        return new Ended(
                end.run(),
                end.kind(),
                end.ran(),
                new RolledBackException(end.run().id()),
                null);
    }

    private void write(List<Verdict> batch) {
        List<Run> runs = batch.stream().map(Verdict::run).toList();
        List<Settlement> settlements = batch.stream().map(Verdict::settlement).toList();
        Settled settled = store.settle(settlements, book.closedBy(runs));
        clock.heard(settled.at());
        tell(batch, settled);
        book.settled(runs);
        unsettled.addAndGet(-batch.size());
        onFree.run();
    }

    private void tell(List<Verdict> batch, Settled settled) {
        Set<?> stale = settled.stale();
        for (Verdict verdict : batch) {
            if (!stale.contains(verdict.run.id()) || wasWrittenBefore(verdict.run)) {
                accepted(verdict, settled.at());
            } else if (verdict.settlement.next() instanceof Settlement.PutBack) {
                log.debug("Job {} was taken over before it could be put back", verdict.run.id());
            } else {
                events.stale(verdict.run.job, settled.at());
            }
        }
    }

    private void accepted(Verdict verdict, Instant at) {
        events.settled(verdict.run.job, verdict.settlement, at);
        if (verdict.settlement.next() instanceof Settlement.Wait wait) {
            onDue.accept(wait.delay());
        }
    }

    private boolean wasWrittenBefore(Run run) {
        return (mayBeWritten || run.isSettledByCaller()) && wasAccepted(run);
    }

    private boolean wasAccepted(Run run) {
        return store.attempts(run.id()).stream().mapToLong(Attempt::token).anyMatch(token -> token == run.token());
    }

    private void split() {
        List<Verdict> batch = unwritten.peekFirst();
        if (batch == null || outage.failures() < FAILURES_BEFORE_SPLIT) {
            return;
        }
        unwritten.removeFirst();
        if (batch.size() == 1) {
            unwritten.addLast(batch);
        } else {
            batch.forEach(verdict -> unwritten.addLast(List.of(verdict)));
        }
    }

    /** The transaction a handler completed its job in did not commit. */
    static final class RolledBackException extends RepriseException {
        private static final long serialVersionUID = 1L;

        RolledBackException(io.reprise.JobId job) {
            super("The transaction in which job " + job + " was completed did not commit, so the job did not succeed");
        }
    }
}
