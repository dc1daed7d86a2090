// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

import java.time.Duration;
import java.time.Instant;

/**
 * How much work there is for a resource.
 *
 * @param good successes per second while all was well
 * @param arriving jobs per second that came while they were held back
 * @param parked such jobs since {@code since}
 */
public record Flow(double good, double arriving, int parked, Instant since) {

    private static final Duration MEASURE = Duration.ofSeconds(2);
    private static final double WEIGHT = 0.5;

    static Flow none(Instant now) {
        return new Flow(0, 0, 0, now);
    }

    Flow joined(double rate) {
        return new Flow(good + rate, arriving, parked, since);
    }

    Flow good(double rate) {
        return new Flow(rate, arriving, parked, since);
    }

    Flow parked(int more, Instant now) {
        Duration age = Duration.between(since, now);
        if (age.compareTo(MEASURE) < 0) {
            return new Flow(good, arriving, parked + more, since);
        }
        double measured = (parked + more) / (age.toNanos() / 1e9);
        double smooth = arriving == 0 ? measured : arriving + WEIGHT * (measured - arriving);
        return new Flow(good, smooth, 0, now);
    }

    /** What a ramp is measured by. */
    double base() {
        return Math.max(good, arriving);
    }
}
