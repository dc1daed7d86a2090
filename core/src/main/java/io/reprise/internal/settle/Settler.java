// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.events.EventPages;
import io.reprise.insight.JobEvent;
import io.reprise.internal.control.LocalControl;
import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.StoreClock;
import io.reprise.internal.run.Run;
import io.reprise.internal.run.RunResult;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.store.CountedAs;
import io.reprise.store.JobStore;
import io.reprise.store.LostClaim;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides about ended runs, writes the decisions, and tells what the store accepted. Local runs ({@link Committer}),
 * remote runs ({@link RemoteOutcomes}) and lost ones ({@code Reclaimer}) all go this way; they differ in when they call
 * it. An outcome is decided once and kept until it is written. Thread-safe.
 */
public final class Settler {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.engine");

    /**
     * A decided outcome.
     *
     * @param end how the run ended; null if the worker was lost with it
     * @param stored the stored attempt, if the handler's own transaction has already written it
     */
    public record Decided(
            Job job,
            Settlement settlement,
            @Nullable RunResult end,
            @Nullable Attempt stored) {

        JobId id() {
            return job.id();
        }

        /** Names the outcome in the pages of events. */
        public EventPages.Subject subject() {
            return new EventPages.Subject(id(), settlement.token());
        }

        private boolean isSettledByCaller() {
            return end != null && end.run().isSettledByCaller();
        }
    }

    /**
     * An outcome that the store accepted.
     *
     * @param at when the store accepted it
     * @param cancelled whether the store wrote a requested cancellation in its place
     */
    public record Accepted(Decided decided, Instant at, boolean cancelled) {}

    /**
     * The store's answer to a batch.
     *
     * @param stale outcomes whose lease was gone; nothing was changed
     */
    public record Answer(Instant at, List<Accepted> accepted, List<Decided> stale) {}

    private final JobStore store;
    private final OutcomeDecider decider;
    private final Driver driver;
    private final StoreClock clock;
    private final LocalControl control;
    private final RunTotals totals;
    private final Events events;
    private final FirstFailures failures;
    private final Consumer<Duration> onDue;

    /**
     * Creates the settler of one worker.
     *
     * @param onDue receives the delay of each job that goes back to waiting
     */
    public Settler(EngineParts parts, OutcomeDecider decider, Consumer<Duration> onDue) {
        this.store = parts.store();
        this.decider = decider;
        this.driver = parts.driver();
        this.clock = parts.clock();
        this.control = parts.control();
        this.totals = parts.totals();
        this.events = parts.events();
        this.failures = new FirstFailures(parts.store());
        this.onDue = onDue;
    }

    /** Asks the advisor about a failed run; the thread that ended the run calls it. */
    void advise(RunResult end) {
        decider.advise(end);
    }

    /** Decides about a run that ended here or at a remote worker. */
    Decided decide(RunResult end) {
        return new Decided(end.run().job, decider.settle(end), end, null);
    }

    /** Decides about a run whose handler completed its job in a transaction of its own. The result is the known one. */
    Decided decide(RunResult end, @Nullable Attempt stored) {
        return new Decided(end.run().job, decider.settle(end), end, stored);
    }

    /** Gives back a run for which the decision itself failed. */
    Decided undecided(RunResult end, RuntimeException why) {
        return new Decided(end.run().job, decider.undecided(end, why), end, null);
    }

    /** Decides about a job that was lost with its worker. */
    public Decided decide(LostClaim lost, Job job) {
        return new Decided(job, decider.lost(lost, job), null, null);
    }

    /**
     * Writes outcomes of different jobs in one call. It reads everything that {@link #tell} needs: if a read fails, the
     * next try tells nothing twice.
     *
     * @param closing leases that this batch empties; null if only the store knows which leases are empty
     * @param tried whether an earlier call whose answer was lost may have written these outcomes
     */
    public Answer write(List<Decided> batch, @Nullable Collection<Long> closing, boolean tried) {
        List<Settlement> settlements = batch.stream()
                .filter(decided -> decided.stored == null)
                .map(Decided::settlement)
                .toList();
        if (events.relay().isWanted()) {
            events.relay().reserve(batch.stream().map(Decided::subject).toList());
        }
        // First: a line that is told belongs to a run that is under way.
        Run.writeLogs(
                batch.stream()
                        .map(Decided::end)
                        .filter(Objects::nonNull)
                        .map(RunResult::run)
                        .toList(),
                store);
        long sent = driver.nanos();
        Settled settled = closing == null ? store.settle(settlements) : store.settle(settlements, closing);
        clock.heard(settled.at(), sent);
        List<Accepted> accepted = new ArrayList<>();
        List<Decided> stale = new ArrayList<>();
        for (Decided decided : batch) {
            Accepted written = accepted(decided, settled, tried);
            if (written == null) {
                stale.add(decided);
            } else {
                accepted.add(written);
            }
        }
        return new Answer(settled.at(), accepted, stale);
    }

    /** Returns null if the outcome was stale. An outcome that an earlier call wrote keeps the time of that call. */
    private @Nullable Accepted accepted(Decided decided, Settled settled, boolean tried) {
        if (decided.stored != null) {
            return new Accepted(decided, decided.stored.endedAt(), false);
        }
        if (!settled.stale().contains(decided.id())) {
            return new Accepted(decided, settled.at(), settled.cancelled().contains(decided.id()));
        }
        if (!tried && !decided.isSettledByCaller()) {
            return null;
        }
        Attempt attempt = stored(decided.id(), decided.settlement.token());
        return attempt == null ? null : new Accepted(decided, attempt.endedAt(), wasCancelled(decided, attempt));
    }

    /** Returns the stored attempt of this token, or null if the store did not accept an outcome under it. */
    @Nullable
    Attempt stored(JobId job, long token) {
        return store.attempts(job).stream()
                .filter(attempt -> attempt.token() == token)
                .findFirst()
                .orElse(null);
    }

    /** Whether the store wrote a requested cancellation in place of this outcome. */
    private boolean wasCancelled(Decided decided, Attempt attempt) {
        if (decided.settlement.next() instanceof Settlement.Cancel) {
            return false;
        }
        return store.find(decided.id())
                .filter(job -> job.state() == JobState.CANCELLED)
                .filter(job -> attempt.endedAt().equals(job.times().finishedAt()))
                .isPresent();
    }

    /** Counts and publishes accepted outcomes. Counted only now, so that a stale or repeated outcome does not count. */
    public void tell(List<Accepted> accepted) {
        Map<JobId, Instant> failed = firstFailures(accepted);
        accepted.forEach(written ->
                events.relay().tell(written.decided.subject(), () -> tell(written, failed.get(written.decided.id()))));
    }

    /** Finds when jobs that now succeeded first failed. Returns an empty map if there is no listener. */
    private Map<JobId, Instant> firstFailures(List<Accepted> accepted) {
        if (!events.hasListeners(JobEvent.Kind.SUCCEEDED)) {
            return Map.of();
        }
        List<Job> retried = new ArrayList<>();
        for (Accepted written : accepted) {
            Decided decided = written.decided;
            if (decided.settlement.next() instanceof Settlement.Succeed) {
                if (decided.job.counts().attempts() > 0) {
                    retried.add(decided.job);
                }
            } else if (!written.cancelled) {
                failures.settled(decided.job, decided.settlement, written.at);
            }
        }
        return failures.of(retried);
    }

    private void tell(Accepted written, @Nullable Instant firstFailedAt) {
        Decided decided = written.decided;
        Settlement settlement = decided.settlement;
        RunResult end = decided.end;
        if (end != null) {
            control.ended(end, settlement);
        }
        if (written.cancelled) {
            refund(decided);
            events.cancelled(decided.job, settlement, written.at);
            return;
        }
        totals.settled(
                decided.job, settlement, end == null ? Map.of() : end.run().costs());
        events.settled(decided.job, settlement, written.at, firstFailedAt);
        if (settlement.next() instanceof Settlement.Wait wait) {
            onDue.accept(wait.delay());
        }
    }

    /** Publishes an outcome that changed nothing, because the lease was gone at {@code at}. */
    void tellStale(Decided decided, Instant at) {
        events.relay().tell(decided.subject(), () -> stale(decided, at));
    }

    private void stale(Decided decided, Instant at) {
        refund(decided);
        if (decided.settlement.spent() == CountedAs.NOTHING) {
            log.debug("Job {} was taken over before it could be put back", decided.id());
        } else {
            events.stale(decided.job, at);
        }
    }

    /** Gives back what the retry of an outcome cost that will not be written. */
    void refund(Decided decided) {
        if (decided.end != null) {
            control.refund(LocalControl.blamed(decided.end.run()), decided.settlement);
        }
    }
}
