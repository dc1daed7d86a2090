// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.internal.Bench;
import io.reprise.internal.Engine;
import io.reprise.internal.Starter;
import io.reprise.internal.VirtualDriver;
import java.time.Duration;
import java.util.SplittableRandom;

/**
 * The real engine without threads and without waiting: jobs run in the calling thread, time moves when it is told to, and
 * chance comes from a seed. Not thread-safe.
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
 * {@link Reprise#await} on such a Reprise lets time pass until the job has ended.
 */
public final class InlineWorker implements AutoCloseable {

    private static final long SEED = 42;

    private final Reprise reprise;
    private final VirtualDriver driver;

    private InlineWorker(Reprise reprise, VirtualDriver driver) {
        this.reprise = reprise;
        this.driver = driver;
    }

    /** Starts what the builder describes, with its store on {@code clock} and chance from a fixed seed. */
    public static InlineWorker start(RepriseBuilder builder, ManualClock clock) {
        return start(builder, clock, SEED);
    }

    public static InlineWorker start(RepriseBuilder builder, ManualClock clock, long seed) {
        VirtualDriver driver = new VirtualDriver(clock);
        Engine.Seams seams = new Engine.Seams(driver, new CallingThread(), new SplittableRandom(seed));
        return new InlineWorker(Starter.start(builder, seams), driver);
    }

    public Reprise reprise() {
        return reprise;
    }

    /** Runs everything that is due now, and what that makes due now. */
    public void runDue() {
        driver.runDue();
    }

    /** Lets time pass and runs what becomes due on the way, each at its time. */
    public void advance(Duration duration) {
        driver.advance(duration);
    }

    @Override
    public void close() {
        reprise.close();
    }

    private static final class CallingThread implements Bench {
        @Override
        public void execute(Runnable work) {
            work.run();
        }

        @Override
        public void close() {}
    }
}
