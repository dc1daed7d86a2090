// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.ManualRetry;
import io.reprise.Operations;
import io.reprise.Replay;
import io.reprise.Reprise;
import io.reprise.job.Job;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.RefusedException;
import io.reprise.simulator.chaos.ChaosPlan.PlannedFault;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Makes faults happen. */
final class Troubles {

    private static final Duration AGAIN = Duration.ofMillis(20);

    private final ChaosWorld world;
    private final SplittableRandom chance;

    Troubles(ChaosWorld world, SplittableRandom chance) {
        this.world = world;
        this.chance = chance;
    }

    void happen(PlannedFault fault) {
        int index = fault.target() % world.workers().size();
        ChaosWorker worker = world.workers().get(index);
        if (!world.isChaotic()) {
            return;
        }
        world.count(fault.kind());
        world.note("fault: " + fault.kind() + " " + worker.name() + " " + fault.length());
        switch (fault.kind()) {
            case CRASH -> worker.crash("at once");
            case CRASH_IN_SETTLE -> worker.dieInSettle();
            case FREEZE -> worker.freeze(fault.length(), false);
            case SUSPEND -> worker.freeze(fault.length(), true);
            case PARTITION -> worker.cutOff(fault.length());
            case OUTAGE -> world.storeDown(fault.length());
            case CLOCK_LEAP -> worker.leap(fault.length().multipliedBy(10));
            case WAKE ->
                world.workers().forEach(each -> {
                    each.wakeUp();
                    each.wakeUp();
                });
            case ROLLOUT -> rollout(worker);
            case QUEUE_PAUSE -> {
                byHand(hand -> hand.pause("fast"));
                later(fault, hand -> hand.resume("fast"));
            }
            case QUEUE_LIMIT -> {
                byHand(hand -> hand.limit("fast", 1 + chance.nextInt(2)));
                later(fault, hand -> hand.limit("fast", null));
            }
            case BREAKER_FORCED -> {
                byHand(hand -> hand.forceOpen(ChaosWorld.RESOURCE));
                later(fault, hand -> hand.automatic(ChaosWorld.RESOURCE));
            }
            case CANCEL -> one(job -> !job.state().isTerminal(), (hand, job) -> hand.cancel(job.id()));
            case RETRY ->
                one(
                        job -> job.state() == JobState.FAILED || job.state() == JobState.PENDING,
                        (hand, job) -> hand.retry(job.id(), retry()));
            case REPLAY ->
                one(
                        job -> job.state() == JobState.FAILED,
                        (hand, job) ->
                                hand.replay(job.id(), chance.nextBoolean() ? Replay.FRESH : Replay.FRESH.asNewJob()));
            case DISCARD -> one(job -> job.state().isTerminal(), (hand, job) -> hand.discard(job.id()));
            default -> throw new IllegalArgumentException("not planned: " + fault);
        }
    }

    private ManualRetry retry() {
        return switch (chance.nextInt(4)) {
            case 0 -> ManualRetry.NOW;
            case 1 -> ManualRetry.NOW.forced();
            case 2 -> ManualRetry.NOW.resettingCounters().forced();
            default -> ManualRetry.NOW.granting(2).withBackoff().forced();
        };
    }

    /** Undoes all lasting changes, each until it has succeeded: the answer of one may be lost. */
    void undo() {
        insist(hand -> hand.resume("fast"));
        insist(hand -> hand.limit("fast", null));
        insist(hand -> hand.automatic(ChaosWorld.RESOURCE));
    }

    void insist(Consumer<Operations> action) {
        Runnable again = () -> world.timeline().after(AGAIN, "fault", () -> insist(action));
        if (!byHand(action, again)) {
            again.run();
        }
    }

    /** Stops a worker in an orderly way, but not during a step. Another one replaces it. */
    private void rollout(ChaosWorker worker) {
        if (worker.isBusy() || worker.isFrozen()) {
            world.timeline().after(AGAIN, "fault", () -> rollout(worker));
        } else {
            worker.close();
        }
    }

    private void later(PlannedFault fault, Consumer<Operations> action) {
        world.timeline().after(fault.length(), "fault", () -> byHand(action));
    }

    private interface OnJob {
        void act(Operations hand, Job job);
    }

    private void one(Predicate<Job> which, OnJob action) {
        List<Job> jobs = world.store().find(JobQuery.all().limit(1_000)).items().stream()
                .filter(which)
                .toList();
        if (!jobs.isEmpty()) {
            Job job = jobs.get(chance.nextInt(jobs.size()));
            byHand(hand -> action.act(hand, job));
        }
    }

    private void byHand(Consumer<Operations> action) {
        byHand(action, () -> {});
    }

    /** Acts as a person at the console of some worker. Returns false if there is none. */
    private boolean byHand(Consumer<Operations> action, Runnable ifRefused) {
        List<ChaosWorker> up = world.workers().stream()
                .filter(worker -> worker.isUp() && !worker.isFrozen())
                .toList();
        if (up.isEmpty()) {
            return false;
        }
        ChaosWorker worker = up.get(chance.nextInt(up.size()));
        worker.whenAwake(() -> {
            Reprise reprise = worker.reprise();
            if (reprise == null) {
                ifRefused.run();
                return;
            }
            try {
                action.accept(reprise.as("operator", "chaos"));
            } catch (StoreException | RefusedException e) {
                world.note("refused: " + e.getMessage());
                ifRefused.run();
            }
        });
        return true;
    }
}
