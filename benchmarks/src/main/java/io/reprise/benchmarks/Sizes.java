// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

import java.time.Duration;

/**
 * The size of a measurement.
 *
 * @param small divides the numbers of jobs: 1 for figures, more for a test that everything works
 * @param share share of the measured system
 * @param least number of jobs that the share does not reduce further
 */
record Sizes(int small, double share, int least) {

    private static final int LEAST = 400;

    static Sizes of(boolean quick, QueueSystem system) {
        return quick ? new Sizes(100, system.share(), LEAST) : new Sizes(1, system.share(), system.least());
    }

    boolean quick() {
        return small > 1;
    }

    /** Returns the number of jobs that are run. */
    int jobs(int full) {
        return Math.max(Math.min(full, least), (int) (full * share / small));
    }

    /** Returns the number of jobs that only lie in the store: equal for every system. */
    int stored(int full) {
        return full / small;
    }

    Duration warmUp() {
        return quick() ? Duration.ofMillis(100) : Duration.ofSeconds(20);
    }

    Duration lasting(Duration full) {
        return full.dividedBy(small);
    }
}
