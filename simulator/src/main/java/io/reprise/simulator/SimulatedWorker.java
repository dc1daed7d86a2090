// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import io.reprise.JobHandler;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.Engine;
import io.reprise.internal.engine.Role;
import io.reprise.internal.engine.Starter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/** A process with a worker, which can pause and die. */
public final class SimulatedWorker {

    private final World world;
    private final SimulatedExecutor executor;
    private final View view = new View();
    private final Reprise reprise;
    private long pausedUntilNanos;
    private boolean dead;

    /**
     * Starts the worker that the builder describes. Each run of {@code handler} takes one of
     * {@code concurrency} places.
     */
    SimulatedWorker(World world, RepriseBuilder builder, int concurrency, SimulatedHandler handler) {
        this(
                world,
                builder.store(world.store).codec(SimulatedHandler.CODEC),
                concurrency,
                SimulatedHandler.TYPE,
                handler::on);
    }

    /** Starts a worker with another handler, store and codec. */
    public <P> SimulatedWorker(
            World world,
            RepriseBuilder builder,
            int concurrency,
            JobType<P> type,
            Function<SimulatedWorker, JobHandler<P>> handler) {
        this.world = world;
        this.executor = new SimulatedExecutor(concurrency);
        builder.concurrency(concurrency).handle(type, handler.apply(this));
        this.reprise = Starter.start(builder, new Engine.Environment(view, executor, world.chance()));
    }

    public Reprise reprise() {
        return reprise;
    }

    public SimulatedExecutor executor() {
        return executor;
    }

    public World world() {
        return world;
    }

    /** Pauses the process for some seconds, as a garbage collection does. Its clock goes on. */
    public void pause(double seconds) {
        pausedUntilNanos = Math.max(pausedUntilNanos, world.driver().nanos() + Math.round(seconds * 1e9));
    }

    /** Runs the action now, or when the pause is over. Does nothing if the process has died. */
    public void whenAwake(Runnable action) {
        if (dead) {
            return;
        }
        if (isPaused()) {
            world.atNanos(pausedUntilNanos, () -> whenAwake(action));
        } else {
            action.run();
        }
    }

    private boolean isPaused() {
        return world.driver().nanos() < pausedUntilNanos;
    }

    /** Ends the process at once, without any report. */
    public void die() {
        dead = true;
        view.end();
    }

    public boolean isDead() {
        return dead;
    }

    /** The world's driver as the process sees it. */
    private final class View implements Driver {

        private final Map<Role, Role> roles = new LinkedHashMap<>();

        @Override
        public long nanos() {
            return world.driver().nanos();
        }

        @Override
        public void start(Role role) {
            Role pausing = new Pausing(role);
            roles.put(role, pausing);
            world.driver().start(pausing);
        }

        @Override
        public void wake(Role role) {
            Role pausing = roles.get(role);
            if (pausing != null) {
                world.driver().wake(pausing);
            }
        }

        @Override
        public void stop(Role role) {
            Role pausing = roles.remove(role);
            if (pausing != null) {
                world.driver().stop(pausing);
            }
        }

        @Override
        public boolean await(BooleanSupplier condition, Duration limit) {
            return world.driver().await(condition, limit);
        }

        void end() {
            List<Role> all = new ArrayList<>(roles.keySet());
            all.forEach(this::stop);
        }
    }

    private final class Pausing implements Role {

        private final Role role;

        Pausing(Role role) {
            this.role = role;
        }

        @Override
        public String name() {
            return role.name();
        }

        @Override
        public Duration step() {
            long left = pausedUntilNanos - world.driver().nanos();
            return left > 0 ? Duration.ofNanos(left) : role.step();
        }
    }
}
