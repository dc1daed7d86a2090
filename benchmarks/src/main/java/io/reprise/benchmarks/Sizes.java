// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

import java.time.Duration;

/**
 * How much a measurement does.
 *
 * @param small divides the numbers of jobs: 1 for figures, more to see whether everything works
 * @param share of the system measured
 */
record Sizes(int small, double share) {

    private static final int LEAST = 400;

    static Sizes of(boolean quick, double share) {
        return new Sizes(quick ? 100 : 1, share);
    }

    boolean quick() {
        return small > 1;
    }

    /** Jobs that are run. */
    int jobs(int full) {
        return Math.max(Math.min(full, LEAST), (int) (full * share / small));
    }

    /** Jobs that only lie in the store: as many for every system. */
    int stored(int full) {
        return full / small;
    }

    Duration warmUp() {
        return quick() ? Duration.ofMillis(100) : Duration.ofSeconds(5);
    }

    Duration lasting(Duration full) {
        return full.dividedBy(small);
    }
}
