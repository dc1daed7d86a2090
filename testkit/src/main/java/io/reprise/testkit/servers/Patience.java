// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.servers;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Waits for an event that must happen, however long it takes. The time limit of the test ends
 * the wait, by an interrupt.
 */
public final class Patience {

    private static final Duration REST = Duration.ofMillis(5);

    private Patience() {}

    /** Checks again and again until the condition holds. */
    public static void until(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            if (Thread.currentThread().isInterrupted()) {
                throw new AssertionError("Waited too long");
            }
            LockSupport.parkNanos(REST.toNanos());
        }
    }
}
