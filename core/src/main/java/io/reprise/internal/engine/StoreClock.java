// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.engine;

import java.time.Duration;
import java.time.Instant;

/**
 * This process's estimate of the store's time: the last time that the store returned, plus the monotonic time since.
 * The worker's wall clock has no part in it, so a wrong wall clock does no harm. Thread-safe.
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
     * Learns the store's time from an answer to a call made at {@code sentNanos}. A slow answer is a lower bound of the
     * time, so it never sets the clock back.
     */
    public void heard(Instant storeNow, long sentNanos) {
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
     * Whether the store's clock leapt ahead within this time, as after a suspended machine. Leases of live workers may
     * then look expired until they are renewed.
     */
    public boolean hasLeapt(Duration within) {
        return leapt && driver.nanos() - leapNanos < within.toNanos();
    }

    public Instant now() {
        Anchor last = anchor;
        return last.at.plusNanos(driver.nanos() - last.nanos);
    }
}
