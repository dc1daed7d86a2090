// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.upkeep;

import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.insight.JobEvent;
import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.StoreClock;
import io.reprise.internal.engine.WorkerSettings;
import io.reprise.internal.settle.Events;
import io.reprise.internal.settle.OutcomeDecider;
import io.reprise.internal.settle.Settler;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.retry.FailReason;
import io.reprise.store.JobStore;
import io.reprise.store.LostClaim;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes over expired leases and settles their jobs as lost. One piece of the leader's upkeep: it calls
 * {@code JobStore.takeOver} and the {@link Settler}.
 *
 * <p>It decides each lease once and keeps the settlements until they are written. If the store fails in between, the
 * jobs need not wait until another lease expires.
 */
public final class Reclaimer implements UpkeepRole.Piece {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.engine");
    private static final Duration INTERVAL = Duration.ofSeconds(1);
    /** Time that a renewal may take after it is due. */
    private static final Duration RENEWAL = Duration.ofSeconds(10);

    private static final int LEASES = 20;
    private static final int EMPTY_LEASES = 1_000;

    private final JobStore store;
    private final WorkerSettings settings;
    private final Settler settler;
    private final Events events;
    private final StoreClock clock;
    private final Driver driver;
    private final Runnable onWork;
    private final Deque<LostClaim> taken = new ArrayDeque<>();

    /** Settlements of the first lease in {@code taken}; null until they are decided. */
    private @Nullable List<Settler.Decided> decided;

    /** Whether an earlier call whose answer was lost may have written {@code decided}. */
    private boolean tried;

    public Reclaimer(EngineParts parts, Settler settler, Runnable onWork) {
        this.store = parts.store();
        this.settings = parts.settings();
        this.settler = settler;
        this.events = parts.events();
        this.clock = parts.clock();
        this.driver = parts.driver();
        this.onWork = onWork;
    }

    @Override
    public String name() {
        return "reclaimer";
    }

    /**
     * Takes over leases of dead workers first, because their jobs wait; empty leases keep nobody waiting. After a leap
     * of the store's clock it pauses until live workers have renewed their leases.
     */
    @Override
    public Duration work() {
        long sent = driver.nanos();
        clock.heard(store.now(), sent);
        if (clock.hasLeapt(settings.timing().lease().plus(RENEWAL))) {
            return INTERVAL;
        }
        if (takeOver() || store.dropEmptyLeases(EMPTY_LEASES) == EMPTY_LEASES) {
            return Duration.ZERO;
        }
        return INTERVAL;
    }

    /** Settles leases that were taken over but not settled, even if this worker no longer leads. */
    @Override
    public void finish() {
        settleTaken();
    }

    /** Returns whether there may be more. */
    private boolean takeOver() {
        List<LostClaim> lost = store.takeOver(settings.name(), settings.timing().lease(), LEASES);
        for (LostClaim claim : lost) {
            int jobs = claim.claim().jobs().size();
            log.warn(
                    "Worker {} lost lease {} on {} {} of queue {}",
                    claim.lostWorker(),
                    claim.lostToken(),
                    jobs,
                    jobs == 1 ? "job" : "jobs",
                    claim.claim().queue());
        }
        taken.addAll(lost);
        settleTaken();
        return lost.size() == LEASES;
    }

    private void settleTaken() {
        for (LostClaim lost = taken.peek(); lost != null; lost = taken.peek()) {
            boolean again = false;
            try {
                if (decided == null) {
                    decided = decide(lost);
                }
                settle(lost, decided);
            } catch (StoreException e) {
                again = e.isTransient();
                throw e;
            } finally {
                if (!again) {
                    taken.remove();
                    decided = null;
                    tried = false;
                }
            }
        }
    }

    private List<Settler.Decided> decide(LostClaim lost) {
        return lost.claim().jobs().stream()
                .map(job -> named(settler.decide(lost, job)))
                .toList();
    }

    private void settle(LostClaim lost, List<Settler.Decided> outcomes) {
        boolean again = tried;
        tried = true;
        Settler.Answer answer = settler.write(outcomes, List.of(lost.claim().token()), again);
        for (Settler.Accepted accepted : answer.accepted()) {
            Job job = accepted.decided().job();
            events.relay().tell(accepted.decided().subject(), () -> {
                if (!lost.excused() && !OutcomeDecider.isUnheard(lost, job)) {
                    events.published(JobEvent.Kind.LOST, job, accepted.at());
                }
                settler.tell(List.of(accepted));
            });
        }
        onWork.run();
    }

    private Settler.Decided named(Settler.Decided decided) {
        Settlement settlement = decided.settlement();
        return isQuarantine(settlement)
                ? new Settler.Decided(decided.job(), naming(settlement, decided.job()), null, null)
                : decided;
    }

    private static boolean isQuarantine(Settlement settlement) {
        return settlement.next() instanceof Settlement.Fail fail && fail.reason() == FailReason.QUARANTINED;
    }

    /** Adds to the dead letter's failure which workers were lost with the job, and when. */
    private Settlement naming(Settlement settlement, Job job) {
        Failure failure = settlement.failure();
        String earlier = store.attempts(job.id()).stream()
                .filter(attempt -> attempt.ending() == Attempt.Ending.LOST)
                .map(attempt -> attempt.worker() + " at " + attempt.endedAt())
                .collect(Collectors.joining(", "));
        if (failure == null || earlier.isEmpty()) {
            return settlement;
        }
        Failure named = Failure.of(
                        FailureClass.LOST,
                        failure.type(),
                        failure.message() + ". Lost with this job before: " + earlier)
                .restored(failure.fingerprint());
        return new Settlement(
                settlement.job(),
                settlement.token(),
                settlement.spent(),
                settlement.ran(),
                settlement.next(),
                named,
                settlement.decision(),
                settlement.followUps(),
                settlement.step(),
                settlement.tags());
    }
}
