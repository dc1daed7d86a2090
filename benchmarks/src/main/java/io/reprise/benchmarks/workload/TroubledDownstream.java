// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.system.Handler;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** The service that numbered jobs call: it works, then fails every call for a time, then works again. Thread-safe. */
final class TroubledDownstream implements Handler {

    private static final long NOT_YET = Long.MIN_VALUE;

    private enum State {
        BEFORE,
        TROUBLE,
        AFTER
    }

    private final long callNanos;
    private final Supplier<Exception> trouble;
    private final AtomicIntegerArray successes;
    private final LongAdder calls = new LongAdder();
    private final LongAdder done = new LongAdder();
    private final AtomicLong firstAfter = new AtomicLong(NOT_YET);
    private volatile State state = State.BEFORE;

    /**
     * Creates the service.
     *
     * @param jobs maximum number of jobs
     * @param callNanos how long a successful call takes; a failed call takes no time
     */
    TroubledDownstream(int jobs, long callNanos, Supplier<Exception> trouble) {
        this.successes = new AtomicIntegerArray(jobs);
        this.callNanos = callNanos;
        this.trouble = trouble;
    }

    @Override
    public void run(String payload) throws Exception {
        calls.increment();
        State begun = state;
        if (begun == State.TROUBLE) {
            throw trouble.get();
        }
        if (callNanos > 0) {
            LockSupport.parkNanos(callNanos);
        }
        successes.incrementAndGet(Payloads.number(payload));
        done.increment();
        if (begun == State.AFTER && firstAfter.get() == NOT_YET) {
            firstAfter.compareAndSet(NOT_YET, System.nanoTime());
        }
    }

    void fail() {
        state = State.TROUBLE;
    }

    void recover() {
        state = State.AFTER;
    }

    long calls() {
        return calls.sum();
    }

    long done() {
        return done.sum();
    }

    boolean hasRecovered() {
        return firstAfter.get() != NOT_YET;
    }

    /** Returns when the first successful call that began after the trouble ended. */
    long firstAfterNanos() {
        return firstAfter.get();
    }

    /** Fails unless each of the first {@code jobs} jobs succeeded exactly once. */
    void check(int jobs) {
        for (int number = 0; number < jobs; number++) {
            if (successes.get(number) != 1) {
                throw new IllegalStateException("job " + number + " succeeded " + successes.get(number) + " times");
            }
        }
    }
}
