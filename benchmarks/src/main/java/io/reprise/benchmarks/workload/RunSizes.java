// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.system.QueueSystem;
import java.time.Duration;

/**
 * The size of a measurement.
 *
 * @param small divides the numbers of jobs: 1 for figures, more to see whether everything works
 * @param share of the system measured
 * @param least jobs that the share does not reduce further
 * @param cold whether a process runs few jobs only before it is measured
 */
public record RunSizes(int small, double share, int least, boolean cold) {

    private static final int LEAST = 400;
    private static final int COLD = 3_000;
    private static final Duration WARM_UP = Duration.ofSeconds(20);
    private static final Duration QUICK = Duration.ofMillis(100);

    public static RunSizes of(boolean quick, boolean cold, QueueSystem system) {
        return quick
                ? new RunSizes(100, system.share(), LEAST, cold)
                : new RunSizes(1, system.share(), system.least(), cold);
    }

    boolean quick() {
        return small > 1;
    }

    /** Returns the number of jobs that are run. */
    public int jobs(int full) {
        return Math.max(Math.min(full, least), (int) (full * share / small));
    }

    /** Returns the number of jobs that only lie in the store: equal for every system. */
    public int stored(int full) {
        return full / small;
    }

    /** Whether what began then and has done so many jobs has done enough before a measurement. */
    boolean isWarm(long beganNanos, int jobs) {
        return cold ? jobs >= coldJobs() : System.nanoTime() - beganNanos >= (quick() ? QUICK : WARM_UP).toNanos();
    }

    /** Jobs that a cold process runs first. */
    int coldJobs() {
        return COLD / small;
    }

    public Duration lasting(Duration full) {
        return full.dividedBy(small);
    }
}
