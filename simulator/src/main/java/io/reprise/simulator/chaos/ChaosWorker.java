// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.Engine;
import io.reprise.internal.engine.Role;
import io.reprise.internal.engine.Starter;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A process with an engine. It can freeze, be cut off, have a wrong clock, and die. */
final class ChaosWorker implements Driver {

    private static final Duration BUG_REST = Duration.ofSeconds(1);

    private final ChaosWorld world;
    private final Timeline timeline;
    private final String name;
    private final List<String> offers;
    private final Map<Role, Slot> slots = new LinkedHashMap<>();
    private final PlacesExecutor executor;
    private final FaultyCalls calls;
    private final double clockRate;
    private final long since;
    private long clockOffset;
    private long frozenUntil;
    private long suspendedUntil;
    private long cutOffUntil;
    private boolean dead;
    private boolean closing;
    private boolean dyingInSettle;
    private int busy;
    private Runnable onWake = () -> {};
    private @Nullable Reprise reprise;

    ChaosWorker(ChaosWorld world, String name, int concurrency, List<String> offers) {
        this.world = world;
        this.timeline = world.timeline();
        this.name = name;
        this.offers = offers;
        this.executor = new PlacesExecutor(this, concurrency);
        this.calls = new FaultyCalls(world, this);
        this.since = world.log().nanos();
        SplittableRandom chance = world.chance();
        // Any origin: an engine may only use differences. The rate is not exact, because no clock is.
        this.clockOffset = chance.nextLong();
        this.clockRate = 1 + 0.01 * (chance.nextDouble() - 0.5);
    }

    /** Starts the engine. Faults between engine and store may kill it at once. */
    void start(RepriseBuilder builder) {
        builder.store(world.storeFor(this, calls));
        guarded(() -> {
            try {
                reprise = Starter.start(builder, new Engine.Environment(this, executor, world.chance()));
            } catch (StoreException e) {
                throw crash("because it cannot start");
            }
        });
    }

    /** Returns a label. Events at one time run in an order drawn from the seed and this label. */
    String label(String part) {
        return name + "/" + part;
    }

    String name() {
        return name;
    }

    /** Labels that it offers to jobs with needs. */
    List<String> offers() {
        return offers;
    }

    @Nullable
    Reprise reprise() {
        return reprise;
    }

    PlacesExecutor executor() {
        return executor;
    }

    FaultyCalls calls() {
        return calls;
    }

    ChaosWorld world() {
        return world;
    }

    boolean isUp() {
        return !dead && !closing && reprise != null;
    }

    boolean isDead() {
        return dead;
    }

    boolean isClosing() {
        return closing;
    }

    boolean isFrozen() {
        return timeline.nanos() < frozenUntil;
    }

    /** Whether its clock has stood still since then, so that it cannot know how late it is. */
    boolean wasSuspendedSince(@Nullable Instant time) {
        return time == null || world.instant(suspendedUntil).isAfter(time);
    }

    /** Whether one of its steps is under way. */
    boolean isBusy() {
        return busy > 0;
    }

    /** Unwinds the present step if the process has died. */
    void live() {
        if (dead) {
            throw new Crashed(name);
        }
    }

    /** Runs an action of this process as soon as it is not frozen. Does nothing if it is dead. */
    void whenAwake(Runnable action) {
        if (dead) {
            return;
        }
        if (timeline.nanos() < frozenUntil) {
            timeline.at(frozenUntil, label("awake"), () -> whenAwake(action));
        } else {
            guarded(action);
        }
    }

    void guarded(Runnable action) {
        busy++;
        try {
            action.run();
        } catch (Crashed e) {
            // The process has died.
        } finally {
            busy--;
        }
    }

    /** Lets time pass during a step. */
    void pass(Duration time) {
        timeline.pass(timeline.nanos() + time.toNanos());
        awake();
    }

    /** Waits, during a step, until the process is no longer frozen. */
    void awake() {
        while (!dead && timeline.nanos() < frozenUntil) {
            timeline.pass(frozenUntil);
        }
        live();
    }

    Crashed crash(String when) {
        if (!dead) {
            world.note(name + " dies " + when);
            end();
        }
        return new Crashed(name);
    }

    void freeze(Duration time, boolean clockToo) {
        frozenUntil = Math.max(frozenUntil, timeline.nanos() + time.toNanos());
        if (clockToo) {
            suspendedUntil = frozenUntil;
            clockOffset -= time.toNanos();
        }
    }

    void leap(Duration time) {
        clockOffset += time.toNanos();
    }

    void cutOff(Duration time) {
        cutOffUntil = Math.max(cutOffUntil, timeline.nanos() + time.toNanos());
    }

    boolean reachesStore() {
        return timeline.nanos() >= cutOffUntil && world.isStoreUp();
    }

    void dieInSettle() {
        dyingInSettle = true;
    }

    boolean diesInSettle(String method) {
        return dyingInSettle && method.equals("settle");
    }

    /** Ends all troubles of this process. */
    void heal() {
        cutOffUntil = 0;
        dyingInSettle = false;
    }

    void onWake(Runnable listener) {
        onWake = listener;
    }

    void wakeUp() {
        whenAwake(onWake);
    }

    private void end() {
        dead = true;
        slots.clear();
        world.ended(this);
    }

    /** Stops the engine in an orderly way. */
    void close() {
        Reprise running = reprise;
        if (running == null || !isUp()) {
            return;
        }
        closing = true;
        long failed = calls.failures();
        long began = timeline.nanos();
        guarded(running::close);
        if (!dead) {
            world.note(name + " has stopped");
            if (calls.failures() == failed && !calls.leasedUnawares() && frozenUntil <= began) {
                world.log().stopped(name, since);
            }
            end();
        }
    }

    @Override
    public long nanos() {
        return clockOffset + (long) (timeline.nanos() * clockRate);
    }

    @Override
    public void start(Role role) {
        Slot slot = new Slot(role);
        slots.put(role, slot);
        slot.schedule(timeline.nanos());
    }

    @Override
    public void wake(Role role) {
        Slot slot = slots.get(role);
        if (slot != null) {
            slot.wake();
        }
    }

    @Override
    public void stop(Role role) {
        slots.remove(role);
    }

    @Override
    public boolean await(BooleanSupplier condition, Duration limit) {
        boolean holds = timeline.await(() -> dead || condition.getAsBoolean(), timeline.nanos() + limit.toNanos());
        live();
        return holds;
    }

    /** The next step of a role. Steps of one role never overlap. */
    private final class Slot {

        private final Role role;
        private long ticket;
        private boolean stepping;
        private boolean woken;

        Slot(Role role) {
            this.role = role;
        }

        void schedule(long at) {
            long mine = ++ticket;
            timeline.at(at, label(role.name()), () -> {
                if (mine == ticket && slots.get(role) == this) {
                    whenAwake(this::step);
                }
            });
        }

        void wake() {
            if (stepping) {
                woken = true;
            } else {
                schedule(timeline.nanos());
            }
        }

        private void step() {
            if (stepping || slots.get(role) != this) {
                return;
            }
            stepping = true;
            woken = false;
            Duration rest = BUG_REST;
            try {
                rest = role.step();
            } catch (RuntimeException e) {
                world.broken(name, role.name(), e);
            } finally {
                stepping = false;
            }
            if (slots.get(role) == this) {
                schedule(timeline.nanos() + (woken ? 0 : Math.min(rest.toNanos(), Long.MAX_VALUE / 4)));
            }
        }
    }
}
