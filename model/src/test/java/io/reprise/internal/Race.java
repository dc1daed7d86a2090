// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jetbrains.kotlinx.lincheck.strategy.TimeoutFailure;
import org.jetbrains.lincheck.Lincheck;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jspecify.annotations.Nullable;

/** Threads that race; Lincheck runs them in many different orders, switching between any two accesses to what they share. */
public final class Race {

    private static final int TRIES = 3;
    private static final int ORDERS = Integer.getInteger("reprise.race.orders", 40);

    private Race() {}

    /** Tries many orders. Fails if one of them ends in an error or in a deadlock. */
    public static void inManyOrders(Runnable race) {
        inOrders(ORDERS, race);
    }

    /** The same with fewer, for a race in which much is shared and each order takes long. */
    public static void inSomeOrders(Runnable race) {
        inOrders(ORDERS / 4, race);
    }

    /**
     * Lincheck gives up what lasts 30 s, as the first order may on a machine so busy that its classes are not prepared by
     * then. That says nothing about the race: a deadlock is found otherwise, and at once.
     */
    private static void inOrders(int orders, Runnable race) {
        for (int tries = 1; ; tries++) {
            try {
                Lincheck.runConcurrentTest(orders, race);
                return;
            } catch (LincheckAssertionError e) {
                if (!(e.getFailure$lincheck() instanceof TimeoutFailure)) {
                    throw e;
                }
                assumeTrue(tries < TRIES, "This machine is too busy to try many orders");
            }
        }
    }

    /** Tries as many orders as it takes to find the one that fails, which is far fewer than this. */
    public static void untilItFails(Runnable race) {
        Lincheck.runConcurrentTest(10_000, race);
    }

    /** Runs these at once, waits for all, and fails if one of them did. To be called in a race. */
    public static void together(Runnable... parts) {
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (Runnable part : parts) {
            threads.add(new Part(part, failure));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
        if (failure.get() != null) {
            throw new AssertionError("one of them failed", failure.get());
        }
    }

    /**
     * A thread that holds its work in fields of its own. Lincheck switches only at objects that it sees shared, and looks for
     * them in the fields of a thread. Since Java 19 a thread keeps its {@code Runnable} in an object of the JDK that Lincheck
     * 3.7 does not look into: then it would take all that a lambda captured for local, and find no race.
     */
    private static final class Part extends Thread {
        private final Runnable work;
        private final AtomicReference<@Nullable Throwable> failure;

        Part(Runnable work, AtomicReference<@Nullable Throwable> failure) {
            this.work = work;
            this.failure = failure;
        }

        @Override
        public void run() {
            try {
                work.run();
            } catch (RuntimeException | AssertionError e) {
                failure.set(e);
            }
        }
    }

    /** Asserted in a race, where a library that explains itself would only be in the way. */
    public static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new AssertionError(otherwise);
        }
    }
}
