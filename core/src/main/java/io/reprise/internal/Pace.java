// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Job;
import java.time.Duration;
import java.util.List;

/**
 * How fast this worker gets through jobs, and so how many it may fetch ahead: what it will have started within a short
 * horizon. Long jobs are never fetched ahead, where another worker could have taken them; short ones in large batches.
 */
final class Pace {

    static final int MAX_AHEAD = 4_000;

    /** Characters of payload to hold ahead: payloads may be large, and memory is not. */
    static final long MAX_CHARS_AHEAD = 16L << 20;

    private static final Duration HORIZON = Duration.ofMillis(250);
    private static final double WEIGHT = 0.05;

    private final int concurrency;
    private double averageNanos = Double.NaN;
    private double largeChars;

    Pace(int concurrency) {
        this.concurrency = concurrency;
    }

    synchronized void ran(long nanos) {
        averageNanos = Double.isNaN(averageNanos) ? nanos : averageNanos + WEIGHT * (nanos - averageNanos);
    }

    /** The largest payload of a batch counts at once and is forgotten slowly: better too few ahead than too many. */
    synchronized void claimed(List<Job> jobs) {
        int largest = 0;
        for (Job job : jobs) {
            largest = Math.max(largest, job.spec().payload().length());
        }
        largeChars = Math.max(largest, largeChars + WEIGHT * (largest - largeChars));
    }

    /** Jobs that were fetched ahead had to be given back: fetch none until shorter ones have been seen again. */
    synchronized void stalled() {
        averageNanos = 2.0 * HORIZON.toNanos();
    }

    /** How many jobs beyond the running ones to hold. */
    synchronized int ahead() {
        if (Double.isNaN(averageNanos)) {
            return 0;
        }
        double startable = concurrency * (double) HORIZON.toNanos() / Math.max(averageNanos, 1);
        // Less than one job per slot within the horizon: the job is long, and holding it would only delay it.
        double holdable = Math.min(MAX_AHEAD, MAX_CHARS_AHEAD / Math.max(largeChars, 1));
        return startable < concurrency ? 0 : (int) Math.min(startable, holdable);
    }
}
