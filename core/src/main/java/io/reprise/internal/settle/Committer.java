// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.internal.control.LocalControl;
import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.OutageRest;
import io.reprise.internal.engine.Role;
import io.reprise.internal.engine.StoreClock;
import io.reprise.internal.run.LeaseBook;
import io.reprise.internal.run.Run;
import io.reprise.internal.run.RunResult;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.RepriseException;
import io.reprise.store.CountedAs;
import io.reprise.store.JobStore;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns ended runs into decisions and writes them in group commits. The {@code Runner} adds ended runs from any
 * thread; this role decides them, calls {@code JobStore.settle} and then publishes the events. While it writes one
 * batch, the next batch gathers.
 *
 * <p>Nothing is dropped. A batch that the store did not answer is written again with the same decisions. A batch
 * that the store refuses is halved until the refused outcome stands alone. That outcome is tried again every
 * {@code REFUSED_RETRY_INTERVAL}, while the others go on.
 */
public final class Committer implements Role {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.engine");
    private static final Duration UNTIL_WOKEN = Duration.ofSeconds(10);
    private static final Duration REFUSED_RETRY_INTERVAL = Duration.ofSeconds(30);
    private static final int MAX_BATCH = 2_000;

    /**
     * A decided outcome that is not written yet.
     *
     * @param end what ended the run, as far as it is known now
     * @param stored the stored attempt, if the handler's own transaction has already written it
     */
    private record Verdict(
            RunResult end, Settlement settlement, @Nullable Attempt stored) {

        Run run() {
            return end.run();
        }
    }

    /**
     * Outcomes that one call writes.
     *
     * @param tried whether an earlier call whose answer was lost may have written them already
     */
    private record Batch(List<Verdict> verdicts, boolean tried) {}

    /** An outcome that the store accepted, with the time of acceptance. */
    private record Written(Verdict verdict, Instant at, boolean cancelled) {}

    private final JobStore store;
    private final Driver driver;
    private final LeaseBook book;
    private final OutcomeDecider decider;
    private final Events events;
    private final LocalControl control;
    private final StoreClock clock;
    private final RunTotals totals;
    private final OutageRest outage;
    private final FirstFailures failures;
    private final Consumer<Duration> onDue;
    private final Runnable onFree;

    private final ConcurrentLinkedQueue<RunResult> arrived = new ConcurrentLinkedQueue<>();
    private final AtomicInteger unsettled = new AtomicInteger();
    private final Deque<Batch> unwritten = new ArrayDeque<>();
    private final Deque<Batch> aside = new ArrayDeque<>();
    /** Ended runs that could not be decided because the store refused a needed question. */
    private final Deque<RunResult> undecided = new ArrayDeque<>();

    private long nextAsideNanos;
    private long nextUndecidedNanos;

    /**
     * Creates the committer of one worker.
     *
     * @param onDue receives the delay of each job that goes back to waiting
     * @param onFree runs when slots become free
     */
    public Committer(
            EngineParts parts, LeaseBook book, OutcomeDecider decider, Consumer<Duration> onDue, Runnable onFree) {
        this.store = parts.store();
        this.driver = parts.driver();
        this.book = book;
        this.decider = decider;
        this.events = parts.events();
        this.control = parts.control();
        this.clock = parts.clock();
        this.totals = parts.totals();
        this.outage = new OutageRest("committer", parts.random());
        this.failures = new FirstFailures(parts.store());
        this.onDue = onDue;
        this.onFree = onFree;
    }

    @Override
    public String name() {
        return "committer";
    }

    public void accept(RunResult end) {
        unsettled.incrementAndGet();
        arrived.add(end);
        driver.wake(this);
    }

    public boolean isIdle() {
        return unsettled.get() == 0;
    }

    @Override
    public Duration step() {
        try {
            gather();
            Batch batch = unwritten.peekFirst();
            if (batch == null) {
                return UNTIL_WOKEN;
            }
            write(batch);
            unwritten.removeFirst();
            outage.worked();
            return Duration.ZERO;
        } catch (StoreException e) {
            if (e.isTransient()) {
                retryLater();
                return outage.failed(e);
            }
            refused(e);
            return Duration.ZERO;
        } catch (RuntimeException e) {
            refused(e);
            return Duration.ZERO;
        }
    }

    /** Decides the runs that have arrived, unless a batch still waits to be written. */
    private void gather() {
        if (unwritten.isEmpty() && !aside.isEmpty() && driver.nanos() - nextAsideNanos >= 0) {
            unwritten.add(aside.removeFirst());
            nextAsideNanos = driver.nanos() + REFUSED_RETRY_INTERVAL.toNanos();
        }
        if (!unwritten.isEmpty()) {
            return;
        }
        if (!undecided.isEmpty() && driver.nanos() - nextUndecidedNanos >= 0) {
            arrived.addAll(undecided);
            undecided.clear();
        }
        List<Verdict> verdicts = new ArrayList<>();
        Set<JobId> jobs = new HashSet<>();
        RunResult end = arrived.peek();
        // A batch holds each job once, because the store answers by job id. A job that was lost, claimed again and
        // ended twice needs two batches.
        while (end != null && verdicts.size() < MAX_BATCH && jobs.add(end.run().id())) {
            Verdict verdict = decide(end, verdicts.isEmpty());
            if (verdict == null) {
                break;
            }
            verdicts.add(verdict);
            arrived.poll();
            end = arrived.peek();
        }
        if (!verdicts.isEmpty()) {
            unwritten.add(new Batch(verdicts, false));
        }
    }

    /**
     * Returns null if the store does not answer a needed question and the batch already holds other outcomes.
     * Those are written first.
     */
    private @Nullable Verdict decide(RunResult end, boolean first) {
        try {
            Attempt stored = end.run().isSettledByCaller() ? accepted(end.run()) : null;
            RunResult known = end.run().isSettledByCaller() ? afterCallersTransaction(end, stored != null) : end;
            Settlement settlement = decider.settle(known);
            return new Verdict(known, settlement, stored);
        } catch (StoreException e) {
            if (first) {
                throw e;
            }
            return null;
        } catch (RuntimeException e) {
            log.error(
                    "Deciding about job {} failed in an unforeseen way; it is given back",
                    end.run().id(),
                    e);
            return new Verdict(end, decider.undecided(end, e), null);
        }
    }

    /** A handler that completed its job in its own transaction succeeded only if that transaction committed. */
    private static RunResult afterCallersTransaction(RunResult end, boolean committed) {
        if (committed) {
            return end.succeeded();
        }
        return end.error() != null
                ? end
                : end.failed(new RolledBackException(end.run().id()));
    }

    private void write(Batch batch) {
        List<Run> runs = batch.verdicts.stream().map(Verdict::run).toList();
        List<Settlement> settlements = batch.verdicts.stream()
                .filter(verdict -> verdict.stored == null)
                .map(Verdict::settlement)
                .toList();
        long sent = driver.nanos();
        Settled settled = store.settle(settlements, book.closedBy(runs));
        clock.heard(settled.at(), sent);
        // Reads everything before it publishes anything. If one of these reads fails, the retry
        // publishes no event twice.
        List<Written> accepted = new ArrayList<>();
        List<Verdict> stale = new ArrayList<>();
        for (Verdict verdict : batch.verdicts) {
            Written written = written(verdict, batch, settled);
            if (written == null) {
                stale.add(verdict);
            } else {
                accepted.add(written);
            }
        }
        book.settled(runs);
        unsettled.addAndGet(-runs.size());
        onFree.run();
        Map<JobId, Instant> failed = firstFailures(accepted);
        accepted.forEach(
                written -> tell(written, failed.get(written.verdict.run().id())));
        stale.forEach(verdict -> tellStale(verdict, settled.at()));
    }

    /** Finds when jobs that now succeeded first failed. Returns an empty map if there is no listener. */
    private Map<JobId, Instant> firstFailures(List<Written> accepted) {
        if (!events.hasListeners()) {
            return Map.of();
        }
        List<Job> retried = new ArrayList<>();
        for (Written written : accepted) {
            Verdict verdict = written.verdict;
            if (verdict.settlement.next() instanceof Settlement.Succeed) {
                if (verdict.run().job.attempts() > 0) {
                    retried.add(verdict.run().job);
                }
            } else if (!written.cancelled) {
                failures.settled(verdict.run().job, verdict.settlement, written.at);
            }
        }
        return failures.of(retried);
    }

    private void tell(Written written, @Nullable Instant firstFailedAt) {
        Verdict verdict = written.verdict;
        // Counted only after the store accepted it, so that a stale outcome does not count.
        control.ended(verdict.end, verdict.settlement);
        if (written.cancelled) {
            control.refund(verdict.run().job, verdict.settlement);
            events.cancelled(verdict.run().job, verdict.settlement, written.at);
            return;
        }
        totals.settled(verdict.run().job, verdict.settlement, verdict.run().costs());
        events.settled(verdict.run().job, verdict.settlement, written.at, firstFailedAt);
        if (verdict.settlement.next() instanceof Settlement.Wait wait) {
            onDue.accept(wait.delay());
        }
    }

    private void tellStale(Verdict verdict, Instant at) {
        control.refund(verdict.run().job, verdict.settlement);
        if (verdict.settlement.spent() == CountedAs.NOTHING) {
            log.debug(
                    "Job {} was taken over before it could be put back",
                    verdict.run().id());
        } else {
            events.stale(verdict.run().job, at);
        }
    }

    /** Returns null if the outcome was stale. An outcome that an earlier call wrote keeps the time of that call. */
    private @Nullable Written written(Verdict verdict, Batch batch, Settled settled) {
        if (verdict.stored != null) {
            return new Written(verdict, verdict.stored.endedAt(), false);
        }
        JobId id = verdict.run().id();
        if (!settled.stale().contains(id)) {
            return new Written(verdict, settled.at(), settled.cancelled().contains(id));
        }
        if (!batch.tried && !verdict.run().isSettledByCaller()) {
            return null;
        }
        Attempt attempt = accepted(verdict.run());
        return attempt == null ? null : new Written(verdict, attempt.endedAt(), wasCancelled(verdict, attempt));
    }

    /** Whether the store wrote a requested cancellation in place of this outcome. */
    private boolean wasCancelled(Verdict verdict, Attempt attempt) {
        if (verdict.settlement.next() instanceof Settlement.Cancel) {
            return false;
        }
        return store.find(verdict.run().id())
                .filter(job -> job.state() == JobState.CANCELLED)
                .filter(job -> attempt.endedAt().equals(job.times().finishedAt()))
                .isPresent();
    }

    private @Nullable Attempt accepted(Run run) {
        return store.attempts(run.id()).stream()
                .filter(attempt -> attempt.token() == run.token())
                .findFirst()
                .orElse(null);
    }

    private void retryLater() {
        Batch batch = unwritten.pollFirst();
        if (batch != null) {
            unwritten.addFirst(new Batch(batch.verdicts, true));
        }
    }

    private void refused(RuntimeException e) {
        Batch batch = unwritten.pollFirst();
        if (batch == null) {
            setFirstAside(e);
            return;
        }
        int size = batch.verdicts.size();
        if (size > 1) {
            unwritten.addFirst(new Batch(batch.verdicts.subList(size / 2, size), true));
            unwritten.addFirst(new Batch(batch.verdicts.subList(0, size / 2), true));
            return;
        }
        log.error(
                "The outcome of job {} cannot be written and is tried again every {}; the job stays RUNNING until then",
                batch.verdicts.get(0).run().id(),
                REFUSED_RETRY_INTERVAL,
                e);
        if (aside.isEmpty()) {
            nextAsideNanos = driver.nanos() + REFUSED_RETRY_INTERVAL.toNanos();
        }
        aside.addLast(new Batch(batch.verdicts, true));
    }

    /** The run that was to be decided goes aside, so that the others go on. */
    private void setFirstAside(RuntimeException e) {
        RunResult end = arrived.poll();
        if (end == null) {
            return;
        }
        log.error(
                "Job {} cannot be decided, because the store refuses to say what it holds; tried again every {}; the"
                        + " job stays RUNNING until then",
                end.run().id(),
                REFUSED_RETRY_INTERVAL,
                e);
        if (undecided.isEmpty()) {
            nextUndecidedNanos = driver.nanos() + REFUSED_RETRY_INTERVAL.toNanos();
        }
        undecided.addLast(end);
    }

    /** Thrown when the transaction in which a handler completed its job did not commit. */
    static final class RolledBackException extends RepriseException {
        private static final long serialVersionUID = 1L;

        RolledBackException(JobId job) {
            super("The transaction in which job " + job + " was completed did not commit, so the job did not succeed");
        }
    }
}
