// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.job.Job;
import java.time.Duration;
import java.util.List;

/**
 * Measures how fast this worker runs jobs, and so how many it may fetch ahead: the jobs that it starts within a
 * short horizon. Short jobs come in large batches. Long jobs are never fetched ahead, because another worker could
 * run them sooner. Thread-safe.
 */
final class RunPace {

    static final int MAX_AHEAD = 4_000;

    /** Characters of payload to hold ahead, because large payloads could fill the memory. */
    static final long MAX_CHARS_AHEAD = 16L << 20;

    private static final Duration HORIZON = Duration.ofMillis(250);
    private static final double WEIGHT = 0.05;

    private final int concurrency;
    private double averageNanos = Double.NaN;
    private double largeChars;

    RunPace(int concurrency) {
        this.concurrency = concurrency;
    }

    synchronized void ran(long nanos) {
        averageNanos = Double.isNaN(averageNanos) ? nanos : averageNanos + WEIGHT * (nanos - averageNanos);
    }

    /** The largest payload of a batch counts at once and decays slowly: too few jobs ahead are better than too many. */
    synchronized void claimed(List<Job> jobs) {
        int largest = 0;
        for (Job job : jobs) {
            largest = Math.max(largest, job.spec().payload().length());
        }
        largeChars = Math.max(largest, largeChars + WEIGHT * (largest - largeChars));
    }

    /** Fetches nothing ahead until shorter jobs have been seen, because jobs fetched ahead had to be given back. */
    synchronized void stalled() {
        averageNanos = 2.0 * HORIZON.toNanos();
    }

    /** Returns how many jobs to hold beyond the running ones. */
    synchronized int ahead() {
        if (Double.isNaN(averageNanos)) {
            return 0;
        }
        double startable = concurrency * (double) HORIZON.toNanos() / Math.max(averageNanos, 1);
        // If a slot starts less than one job within the horizon, jobs are long, and holding them would only delay them.
        double holdable = Math.min(MAX_AHEAD, MAX_CHARS_AHEAD / Math.max(largeChars, 1));
        return startable < concurrency ? 0 : (int) Math.min(startable, holdable);
    }
}
