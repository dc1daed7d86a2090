// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.history.StoreCalls;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** The connection from one worker to the store. At each call others may act, time may pass and faults may happen. */
final class FaultyCalls implements StoreCalls {

    private static final Duration SHORT = Duration.ofMillis(40);
    private static final Set<String> LOCAL =
            Set.of("close", "prepare", "onWake", "offWake", "within", "hashCode", "toString");

    private final ChaosWorld world;
    private final ChaosWorker worker;
    private final SplittableRandom chance;
    private @Nullable JobStore itself;
    private long failures;
    private boolean leasedUnawares;

    FaultyCalls(ChaosWorld world, ChaosWorker worker) {
        this.world = world;
        this.worker = worker;
        this.chance = world.chance();
    }

    JobStore before(JobStore store) {
        JobStore faulty = StoreCalls.before(store, this);
        itself = faulty;
        return faulty;
    }

    /** Returns the number of failed calls. */
    long failures() {
        return failures;
    }

    /** Whether the worker got a lease whose answer was lost. */
    boolean leasedUnawares() {
        return leasedUnawares;
    }

    @Override
    public @Nullable Object answer(Call call) {
        if (LOCAL.contains(call.method())) {
            return local(call);
        }
        worker.live();
        delay();
        if (!worker.reachesStore() || draws(Fault.CALL_FAILED_BEFORE, 0.02)) {
            throw failed("no connection");
        }
        boolean dies = worker.diesInSettle(call.method());
        if (dies && chance.nextBoolean()) {
            throw worker.crash("before its settle");
        }
        @Nullable Object answer = call.proceed();
        world.checkRows();
        if (dies) {
            throw worker.crash("after its settle");
        }
        delay();
        if (!worker.reachesStore() || draws(Fault.CALL_FAILED_AFTER, 0.02)) {
            leasedUnawares |= call.method().equals("claim") || call.method().equals("takeOver");
            throw failed("answer lost");
        }
        return answer;
    }

    private @Nullable Object local(Call call) {
        return switch (call.method()) {
            // A caller's transaction that commits at once.
            case "within" -> itself;
            case "onWake" -> {
                worker.onWake((Runnable) call.arguments().get(0));
                yield null;
            }
            case "offWake" -> {
                worker.onWake(() -> {});
                yield null;
            }
            case "close", "prepare" -> null;
            default -> call.proceed();
        };
    }

    private boolean draws(Fault fault, double probability) {
        if (!world.has(fault) || chance.nextDouble() >= probability) {
            return false;
        }
        world.count(fault);
        return true;
    }

    private void delay() {
        if (world.isTooDeep()) {
            return;
        }
        if (draws(Fault.CALL_DELAYED, 0.3)) {
            worker.pass(Duration.ofNanos(chance.nextLong(SHORT.toNanos())));
        } else if (draws(Fault.CALL_SLOW, 0.01)) {
            worker.pass(Duration.ofNanos(chance.nextLong(2 * world.lease().toNanos())));
        } else {
            worker.awake();
        }
    }

    private StoreException failed(String why) {
        failures++;
        worker.pass(Duration.ofNanos(chance.nextLong(SHORT.toNanos())));
        return new StoreException(why, new IllegalStateException("injected"));
    }
}
