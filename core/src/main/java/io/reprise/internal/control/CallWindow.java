// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import io.reprise.internal.control.CallCounts.Counts;
import java.time.Duration;
import java.time.Instant;

/**
 * Outcomes of the recent past, in two halves. When the younger half is over, it becomes the older half, and the older
 * half is forgotten. Immutable.
 *
 * @param start when the younger half began
 * @param older outcomes of the older half
 * @param younger outcomes of the younger half so far
 * @since 0.1.0
 */
public record CallWindow(Instant start, Counts older, Counts younger) {

    static CallWindow empty(Instant now) {
        return new CallWindow(now, Counts.NONE, Counts.NONE);
    }

    CallWindow plus(Counts counts, Duration length, Instant now) {
        Duration half = length.dividedBy(2);
        Duration age = Duration.between(start, now);
        if (age.compareTo(length) >= 0) {
            return new CallWindow(now, Counts.NONE, counts);
        }
        if (age.compareTo(half) >= 0) {
            return new CallWindow(now, younger, counts);
        }
        return new CallWindow(start, older, younger.plus(counts));
    }

    /** Returns for how many seconds the window has been counting, at least 0.5. */
    double seconds(Duration length, Instant now) {
        double young = Duration.between(start, now).toNanos() / 1e9;
        double old = older.equals(Counts.NONE) ? 0 : length.toNanos() / 2e9;
        return Math.max(0.5, young + old);
    }

    Counts total() {
        return older.plus(younger);
    }
}
