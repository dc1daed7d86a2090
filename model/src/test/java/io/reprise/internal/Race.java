// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import java.util.ArrayList;
import java.util.List;
import org.jetbrains.lincheck.Lincheck;

/** Threads that race; Lincheck runs them in many different orders, switching between any two accesses to what they share. */
public final class Race {

    private static final int ORDERS = Integer.getInteger("reprise.race.orders", 100);

    private Race() {}

    /** Tries many orders. Fails if one of them ends in an error or in a deadlock. */
    public static void inManyOrders(Runnable race) {
        Lincheck.runConcurrentTest(ORDERS, race);
    }

    /** Tries as many orders as it takes to find the one that fails, which is far fewer than this. */
    public static void untilItFails(Runnable race) {
        Lincheck.runConcurrentTest(50_000, race);
    }

    /** Runs these at once, and waits for all. To be called in a race. */
    public static void together(Runnable... parts) {
        List<Thread> threads = new ArrayList<>();
        for (Runnable part : parts) {
            threads.add(new Thread(part));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
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
