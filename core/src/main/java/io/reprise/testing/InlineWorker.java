// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.internal.engine.Engine;
import io.reprise.internal.engine.Starter;
import io.reprise.internal.engine.VirtualDriver;
import io.reprise.internal.run.HandlerExecutor;
import java.time.Duration;
import java.util.SplittableRandom;

/**
 * The real engine without threads and without waiting. Jobs run in the calling thread, time moves only when the test
 * moves it, and randomness comes from a seed. Not thread-safe.
 *
 * <pre>{@code
 * ManualClock clock = new ManualClock();
 * try (InlineWorker worker = InlineWorker.start(
 *         Reprise.builder().store(new InMemoryJobStore(clock)).handle(SEND, handler), clock)) {
 *     JobId id = worker.reprise().enqueue(SEND.job(email));
 *     worker.advance(Duration.ofHours(1));
 * }
 * }</pre>
 *
 * <p>{@link Reprise#await} on this Reprise moves the clock until the job has ended. A handler runs in the calling
 * thread, so nothing can interrupt it. Test timeouts and the cancellation of a running job with a real worker.
 *
 * @since 0.1.0
 */
public final class InlineWorker implements AutoCloseable {

    private static final long SEED = 42;

    private final Reprise reprise;
    private final VirtualDriver driver;

    private InlineWorker(Reprise reprise, VirtualDriver driver) {
        this.reprise = reprise;
        this.driver = driver;
    }

    /**
     * Starts a worker with a fixed seed: each run of a test draws the same delays.
     *
     * @param builder settings and handlers; its store must use {@code clock}
     * @param clock the clock that {@link #advance} moves
     */
    public static InlineWorker start(RepriseBuilder builder, ManualClock clock) {
        return start(builder, clock, SEED);
    }

    /**
     * Starts a worker with a seed. Equal seeds draw equal delays.
     *
     * @param builder settings and handlers; its store must use {@code clock}
     * @param clock the clock that {@link #advance} moves
     * @param seed the seed of all randomness in the engine
     */
    public static InlineWorker start(RepriseBuilder builder, ManualClock clock, long seed) {
        InlineWorker worker = open(builder, clock, seed);
        worker.reprise.startWorker();
        return worker;
    }

    /**
     * Prepares a worker with a fixed seed that {@link Reprise#startWorker} starts, as {@link RepriseBuilder#open} does.
     *
     * @param builder settings and handlers; its store must use {@code clock}
     * @param clock the clock that {@link #advance} moves
     */
    public static InlineWorker open(RepriseBuilder builder, ManualClock clock) {
        return open(builder, clock, SEED);
    }

    private static InlineWorker open(RepriseBuilder builder, ManualClock clock, long seed) {
        VirtualDriver driver = new VirtualDriver(clock, clock::advance);
        Engine.Environment environment =
                new Engine.Environment(driver, new CallingThread(), new SplittableRandom(seed));
        return new InlineWorker(Starter.open(builder, environment), driver);
    }

    /** Returns the Reprise that this worker runs for: enqueue, find and await jobs with it. */
    public Reprise reprise() {
        return reprise;
    }

    /**
     * Runs all jobs and upkeep that are due now, and those that they make due now. The clock does not move, unless a
     * handler moves it.
     *
     * @throws IllegalStateException if a job is due again at once without end
     */
    public void runDue() {
        driver.runDue();
    }

    /**
     * Moves the clock forward and runs everything that becomes due on the way, each at its time.
     *
     * @param duration how far
     * @throws IllegalArgumentException if {@code duration} is negative
     * @throws IllegalStateException if a job is due again at once without end
     */
    public void advance(Duration duration) {
        if (duration.isNegative()) {
            throw new IllegalArgumentException("duration must not be negative, but is " + duration);
        }
        driver.advance(duration);
    }

    /**
     * Stops the worker in an orderly way and closes its store; an {@link InMemoryJobStore} stays readable. A second
     * call does nothing.
     */
    @Override
    public void close() {
        reprise.close();
    }

    private static final class CallingThread implements HandlerExecutor {
        @Override
        public void execute(Runnable work) {
            work.run();
        }

        @Override
        public void close() {}
    }
}
