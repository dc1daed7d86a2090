// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import java.time.Instant;

/**
 * The store's time as this process can best tell: what the store last said plus what has passed since by the monotonic
 * clock. The wall clock of the worker takes no part, so a wrong one harms nothing.
 */
public final class StoreClock {

    private record Anchor(Instant at, long nanos) {}

    private final Driver driver;
    private volatile Anchor anchor;

    public StoreClock(Driver driver, Instant now) {
        this.driver = driver;
        this.anchor = new Anchor(now, driver.nanos());
    }

    void heard(Instant storeNow) {
        anchor = new Anchor(storeNow, driver.nanos());
    }

    public Instant now() {
        Anchor last = anchor;
        return last.at.plusNanos(driver.nanos() - last.nanos);
    }
}
