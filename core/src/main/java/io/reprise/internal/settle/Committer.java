// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.OutageRest;
import io.reprise.internal.engine.Role;
import io.reprise.internal.run.LeaseBook;
import io.reprise.internal.run.Run;
import io.reprise.internal.run.RunResult;
import io.reprise.job.Attempt;
import io.reprise.job.JobId;
import io.reprise.job.RepriseException;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settles ended runs in group commits. The {@code Runner} adds ended runs from any thread; this role gathers them and
 * has the {@link Settler} decide, write and tell them. While it writes one batch, the next batch gathers.
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
     * Outcomes that one call writes.
     *
     * @param tried whether an earlier call whose answer was lost may have written them already
     */
    private record Batch(List<Settler.Decided> outcomes, boolean tried) {

        List<Run> runs() {
            return outcomes.stream().map(Committer::run).toList();
        }
    }

    private final Driver driver;
    private final LeaseBook book;
    private final Settler settler;
    private final OutageRest outage;
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
     * @param onFree runs when slots become free
     */
    public Committer(EngineParts parts, LeaseBook book, Settler settler, Runnable onFree) {
        this.driver = parts.driver();
        this.book = book;
        this.settler = settler;
        this.outage = new OutageRest("committer", parts.random());
        this.onFree = onFree;
    }

    @Override
    public String name() {
        return "committer";
    }

    /** Asks the advisor about a failed run; the thread that ended the run calls it. */
    public void advise(RunResult end) {
        settler.advise(end);
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
        List<Settler.Decided> outcomes = new ArrayList<>();
        Set<JobId> jobs = new HashSet<>();
        RunResult end = arrived.peek();
        // A batch holds each job once, because the store answers by job id. A job that was lost, claimed again and
        // ended twice needs two batches.
        while (end != null && outcomes.size() < MAX_BATCH && jobs.add(end.run().id())) {
            Settler.Decided decided = decide(end, outcomes.isEmpty());
            if (decided == null) {
                break;
            }
            outcomes.add(decided);
            arrived.poll();
            end = arrived.peek();
        }
        if (!outcomes.isEmpty()) {
            unwritten.add(new Batch(outcomes, false));
        }
    }

    /**
     * Returns null if the store does not answer a needed question and the batch already holds other outcomes.
     * Those are written first.
     */
    private Settler.@Nullable Decided decide(RunResult end, boolean first) {
        try {
            if (!end.run().isSettledByCaller()) {
                return settler.decide(end);
            }
            Attempt stored = settler.stored(end.run().id(), end.run().token());
            return settler.decide(afterCallersTransaction(end, stored != null), stored);
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
            return settler.undecided(end, e);
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
        List<Run> runs = batch.runs();
        Settler.Answer answer = settler.write(batch.outcomes, book.closedBy(runs), batch.tried);
        book.settled(runs);
        unsettled.addAndGet(-runs.size());
        onFree.run();
        settler.tell(answer.accepted());
        answer.stale().forEach(decided -> settler.tellStale(decided, answer.at()));
    }

    private static Run run(Settler.Decided decided) {
        return Objects.requireNonNull(decided.end()).run();
    }

    private void retryLater() {
        Batch batch = unwritten.pollFirst();
        if (batch != null) {
            unwritten.addFirst(new Batch(batch.outcomes, true));
        }
    }

    private void refused(RuntimeException e) {
        Batch batch = unwritten.pollFirst();
        if (batch == null) {
            setFirstAside(e);
            return;
        }
        int size = batch.outcomes.size();
        if (size > 1) {
            unwritten.addFirst(new Batch(batch.outcomes.subList(size / 2, size), true));
            unwritten.addFirst(new Batch(batch.outcomes.subList(0, size / 2), true));
            return;
        }
        log.error(
                "The outcome of job {} cannot be written and is tried again every {}; the job stays RUNNING until then",
                batch.outcomes.get(0).id(),
                REFUSED_RETRY_INTERVAL,
                e);
        if (aside.isEmpty()) {
            nextAsideNanos = driver.nanos() + REFUSED_RETRY_INTERVAL.toNanos();
        }
        aside.addLast(new Batch(batch.outcomes, true));
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
