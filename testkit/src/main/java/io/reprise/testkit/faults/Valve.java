// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.faults;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Lets bytes of one direction pass at once, later, or not until it is opened. */
final class Valve {

    private boolean stalled;
    private long delayMillis;

    synchronized void stall() {
        stalled = true;
    }

    synchronized void slow(long millis) {
        delayMillis = millis;
        notifyAll();
    }

    synchronized void open() {
        stalled = false;
        delayMillis = 0;
        notifyAll();
    }

    /** Wakes waiting threads, so that they check whether their connection is gone. */
    synchronized void look() {
        notifyAll();
    }

    /** Waits for passage. Returns false if the connection is gone. */
    synchronized boolean pass(BooleanSupplier gone) {
        try {
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMillis);
            while (!gone.getAsBoolean() && (stalled || (delayMillis > 0 && System.nanoTime() - end < 0))) {
                if (stalled) {
                    wait();
                } else {
                    wait(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
                }
            }
            return !gone.getAsBoolean();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
