// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

import java.time.Duration;

/**
 * How much a measurement does.
 *
 * @param small divides the numbers of jobs: 1 for figures, more to see whether everything works
 * @param share of the system measured
 * @param least jobs that the share does not reduce further
 */
record Sizes(int small, double share, int least) {

    private static final int LEAST = 400;

    static Sizes of(boolean quick, QueueSystem system) {
        return quick ? new Sizes(100, system.share(), LEAST) : new Sizes(1, system.share(), system.least());
    }

    boolean quick() {
        return small > 1;
    }

    /** Jobs that are run. */
    int jobs(int full) {
        return Math.max(Math.min(full, least), (int) (full * share / small));
    }

    /** Jobs that only lie in the store: as many for every system. */
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
