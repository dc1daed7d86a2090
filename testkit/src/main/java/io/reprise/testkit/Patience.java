// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what must happen, however long that takes: the time limit of the test ends it, by an interrupt. */
public final class Patience {

    private static final Duration REST = Duration.ofMillis(5);

    private Patience() {}

    /** Looks again and again until it is so. */
    public static void until(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            if (Thread.currentThread().isInterrupted()) {
                throw new AssertionError("Waited in vain");
            }
            LockSupport.parkNanos(REST.toNanos());
        }
    }
}
