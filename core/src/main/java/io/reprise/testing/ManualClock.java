// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * A clock that stands still until a test moves it. Thread-safe.
 *
 * @since 0.1.0
 */
public final class ManualClock implements InstantSource {

    private volatile Instant now;

    /** Creates a clock that stands at 2026-01-01T00:00:00Z. */
    public ManualClock() {
        this(Instant.parse("2026-01-01T00:00:00Z"));
    }

    /** Creates a clock that stands at {@code start}. */
    public ManualClock(Instant start) {
        this.now = start;
    }

    @Override
    public Instant instant() {
        return now;
    }

    /**
     * Moves the clock forward. Each call adds to the time.
     *
     * @param duration how far; not negative
     * @throws NullPointerException if {@code duration} is null
     * @throws IllegalArgumentException if {@code duration} is negative
     */
    public synchronized void advance(Duration duration) {
        if (duration.isNegative()) {
            throw new IllegalArgumentException("time does not go back: " + duration);
        }
        now = now.plus(duration);
    }
}
