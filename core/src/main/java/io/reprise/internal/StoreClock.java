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

    private static final Duration LEAP = Duration.ofSeconds(1);

    private record Anchor(Instant at, long nanos) {}

    private final Driver driver;
    private volatile Anchor anchor;
    private volatile boolean leapt;
    private volatile long leapNanos;

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
        if (storeNow.isAfter(now().plus(LEAP))) {
            leapNanos = now;
            leapt = true;
        }
        if (now - sentNanos <= PROMPT.toNanos() || storeNow.isAfter(now())) {
            anchor = new Anchor(storeNow, now);
        }
    }

    /**
     * Whether the store's clock went ahead by a leap within this time, as that of a machine that was suspended: leases of workers that
     * live may look expired until they are renewed.
     */
    boolean hasLeapt(Duration within) {
        return leapt && driver.nanos() - leapNanos < within.toNanos();
    }

    public Instant now() {
        Anchor last = anchor;
        return last.at.plusNanos(driver.nanos() - last.nanos);
    }
}
