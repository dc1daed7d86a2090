// SPDX-License-Identifier: Apache-2.0
package io.reprise.fairness;

import java.time.Duration;

/**
 * How soon jobs of a queue should start after they are due: its service level. Immutable.
 *
 * @param within 1 ms to 30 days
 * @param lateFirst whether jobs that have waited for half of this time come first within their priority
 * @since 0.1.0
 */
public record StartGoal(Duration within, boolean lateFirst) {

    private static final Duration SHORTEST = Duration.ofMillis(1);
    private static final Duration LONGEST = Duration.ofDays(30);

    /** Returns how long a job has waited when it is at risk: half of the time. */
    public Duration atRisk() {
        return within.dividedBy(2);
    }

    /**
     * Checks the time.
     *
     * @throws IllegalArgumentException if {@code within} is outside its bounds
     */
    public StartGoal {
        if (within.compareTo(SHORTEST) < 0 || within.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("startWithin must be 1 ms to 30 days, not " + within);
        }
    }
}
