// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import io.reprise.internal.engine.VirtualDriver;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/** One simulated world: its time, its random numbers, its store and its events. Not thread-safe: it uses one thread. */
public final class World {

    private static final double NANOS = 1e9;

    private final ManualClock clock = new ManualClock();
    private final VirtualDriver driver = new VirtualDriver(clock, clock::advance);
    private final Agenda agenda = new Agenda(driver);
    private final SplittableRandom seeds;
    // One store object stands for a database, and each worker for a process.
    public final InMemoryJobStore store = new InMemoryJobStore(clock).pollOnly();

    public World(long seed) {
        seeds = new SplittableRandom(seed);
        driver.start(agenda);
    }

    public VirtualDriver driver() {
        return driver;
    }

    /** Returns a separate random generator, so that more draws in one part do not change another part. */
    public SplittableRandom chance() {
        return seeds.split();
    }

    /** Returns the seconds since the beginning. */
    public double now() {
        return driver.nanos() / NANOS;
    }

    public void at(double seconds, Runnable action) {
        // Whole microseconds, as the store counts. Otherwise a job could be due a fraction before its time.
        atNanos(Math.round(seconds * 1e6) * 1_000, action);
    }

    public void atNanos(long nanos, Runnable action) {
        agenda.at(nanos, action);
    }

    public void after(double seconds, Runnable action) {
        at(now() + seconds, action);
    }

    /** Repeats the action at random times, with this mean rate, from {@code from} until {@code until}. */
    public void arrivals(double rate, double from, double until, Runnable action) {
        SplittableRandom chance = chance();
        arrival(rate, from, until, action, chance);
    }

    private void arrival(double rate, double from, double until, Runnable action, SplittableRandom chance) {
        double next = from - StrictMath.log1p(-chance.nextDouble()) / rate;
        if (next < until) {
            at(next, () -> {
                action.run();
                arrival(rate, next, until, action, chance);
            });
        }
    }

    /** Lets time pass until this moment. */
    public void runUntil(double seconds) {
        driver.advance(Duration.ofNanos(Math.round(seconds * NANOS) - driver.nanos()));
    }

    /** Lets time pass until the condition holds, but not beyond this moment. */
    public boolean runUntil(BooleanSupplier condition, double latest) {
        return driver.await(condition, Duration.ofNanos(Math.round(latest * NANOS) - driver.nanos()));
    }
}
