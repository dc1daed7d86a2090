// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import java.time.Duration;
import java.time.Instant;

/**
 * The store's time as this process can best tell: what the store last said plus what has passed since by the monotonic
 * clock. The wall clock of the worker takes no part, so a wrong one harms nothing.
 */
public final class StoreClock {

    private static final Duration PROMPT = Duration.ofSeconds(1);

    private record Anchor(Instant at, long nanos) {}

    private final Driver driver;
    private volatile Anchor anchor;

    public StoreClock(Driver driver, Instant now) {
        this.driver = driver;
        this.anchor = new Anchor(now, driver.nanos());
    }

    /**
     * Takes notice of what the store said in answer to a call made at {@code sentNanos}. An answer that was long on its
     * way says how late it is at least, and so never sets the clock back.
     */
    void heard(Instant storeNow, long sentNanos) {
        long now = driver.nanos();
        if (now - sentNanos <= PROMPT.toNanos() || storeNow.isAfter(now())) {
            anchor = new Anchor(storeNow, now);
        }
    }

    public Instant now() {
        Anchor last = anchor;
        return last.at.plusNanos(driver.nanos() - last.nanos);
    }
}
