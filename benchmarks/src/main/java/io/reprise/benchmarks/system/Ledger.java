// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.system;

import io.reprise.benchmarks.measure.Payloads;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;

/** The handler of numbered jobs: counts the runs of each, and fails the first ones if configured. Thread-safe. */
public final class Ledger implements Handler {

    /** The exception of a failing job. */
    public static final class Failed extends Exception {
        public Failed(int number) {
            super("Job " + number + " fails the first time");
        }
    }

    private static final long NOT_YET = Long.MIN_VALUE;

    private final AtomicIntegerArray runs;
    private final int failures;
    private final AtomicInteger open;
    private final AtomicLong firstRun = new AtomicLong(NOT_YET);
    private final CountDownLatch all = new CountDownLatch(1);

    public Ledger(int jobs, int failures) {
        this.runs = new AtomicIntegerArray(jobs);
        this.failures = failures;
        this.open = new AtomicInteger(jobs);
    }

    @Override
    public void begin() {
        if (firstRun.get() == NOT_YET) {
            firstRun.compareAndSet(NOT_YET, System.nanoTime());
        }
    }

    @Override
    public void run(String payload) throws Failed {
        begin();
        int number = Payloads.number(payload);
        int run = runs.incrementAndGet(number);
        if (run <= failures) {
            throw new Failed(number);
        }
        if (run == failures + 1 && open.decrementAndGet() == 0) {
            all.countDown();
        }
    }

    /** Waits until every job has succeeded. */
    public void await(Duration limit) throws InterruptedException {
        if (!all.await(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException(open.get() + " of " + runs.length() + " jobs did not run in " + limit);
        }
    }

    public boolean isDone() {
        return open.get() == 0;
    }

    /** Returns the number of jobs that have not succeeded yet. */
    public int open() {
        return open.get();
    }

    public long firstRunNanos() {
        return firstRun.get();
    }

    /** Fails unless every job succeeded exactly once. */
    public void check() {
        for (int number = 0; number < runs.length(); number++) {
            if (runs.get(number) != failures + 1) {
                throw new IllegalStateException(
                        "job " + number + " ran " + runs.get(number) + " times, not " + (failures + 1));
            }
        }
    }
}
