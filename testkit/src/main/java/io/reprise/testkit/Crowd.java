// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.function.IntConsumer;

/** Runs threads that start at the same moment. */
final class Crowd {

    private static final long PATIENCE_MILLIS = 600_000;

    private Crowd() {}

    /** Runs the work in every thread, each with its number. Fails with the first failure. */
    static void run(int threads, IntConsumer work) {
        CyclicBarrier start = new CyclicBarrier(threads);
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        List<Thread> crowd = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int number = i;
            Thread thread = new Thread(
                    () -> {
                        try {
                            start.await();
                            work.accept(number);
                        } catch (Throwable e) {
                            failures.add(e);
                        }
                    },
                    "crowd-" + number);
            thread.setDaemon(true);
            thread.start();
            crowd.add(thread);
        }
        crowd.forEach(Crowd::join);
        if (!failures.isEmpty()) {
            throw new AssertionError("a thread failed", failures.element());
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join(PATIENCE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
        assertThat(thread.isAlive()).as("%s still runs", thread.getName()).isFalse();
    }
}
