// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** A clock that stands still until it is moved. Thread-safe. */
public final class ManualClock implements InstantSource {

    private volatile Instant now;

    public ManualClock() {
        this(Instant.parse("2026-01-01T00:00:00Z"));
    }

    public ManualClock(Instant start) {
        this.now = start;
    }

    @Override
    public Instant instant() {
        return now;
    }

    /**
     * Moves on.
     *
     * @throws IllegalArgumentException if the duration is negative
     */
    public synchronized void advance(Duration duration) {
        if (duration.isNegative()) {
            throw new IllegalArgumentException("time does not go back: " + duration);
        }
        now = now.plus(duration);
    }
}
