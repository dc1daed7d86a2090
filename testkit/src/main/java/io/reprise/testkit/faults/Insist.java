// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.faults;

import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Repeats a call that failed for a passing reason: store calls have time limits, and a machine
 * may stand still for longer.
 */
public final class Insist {

    private static final Duration LIMIT = Duration.ofMinutes(5);

    private Insist() {}

    /** Returns the result of the call that succeeded. */
    public static <T> T on(Supplier<T> call) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (true) {
            try {
                return call.get();
            } catch (StoreException e) {
                if (!e.isTransient()
                        || System.nanoTime() - end > 0
                        || Thread.currentThread().isInterrupted()) {
                    throw e;
                }
            }
        }
    }
}
