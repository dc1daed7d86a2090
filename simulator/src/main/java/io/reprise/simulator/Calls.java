// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import io.reprise.JobContext;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Counts calls per second, and records how long jobs take from arrival to success. */
public class Calls implements SimulatedHandler.Observer {

    private final World world;
    private int[] perSecond = new int[4_096];
    private double[] took = new double[4_096];
    private double[] arrived = new double[4_096];
    private int succeeded;
    private long total;

    public Calls(World world) {
        this.world = world;
    }

    @Override
    public void began(SimulatedWorker worker, double arrivedAt, JobContext job) {
        int second = (int) world.now();
        if (second >= perSecond.length) {
            perSecond = Arrays.copyOf(perSecond, Math.max(second + 1, 2 * perSecond.length));
        }
        perSecond[second]++;
        total++;
    }

    @Override
    public void ended(double arrivedAt, @Nullable Throwable error) {
        if (error == null) {
            if (succeeded == took.length) {
                took = Arrays.copyOf(took, 2 * succeeded);
                arrived = Arrays.copyOf(arrived, 2 * succeeded);
            }
            arrived[succeeded] = arrivedAt;
            took[succeeded++] = world.now() - arrivedAt;
        }
    }

    public long total() {
        return total;
    }

    /** Returns the calls that began from one whole second until before another. */
    public long between(int from, int until) {
        return Arrays.stream(perSecond, from, Math.max(from, Math.min(until, perSecond.length)))
                .asLongStream()
                .sum();
    }

    /** Returns the most calls in one second, from this second on. */
    public int peakFrom(int second) {
        return Arrays.stream(perSecond, Math.min(second, perSecond.length), perSecond.length)
                .max()
                .orElse(0);
    }

    public int in(int second) {
        return second < perSecond.length ? perSecond[second] : 0;
    }

    /** Returns the time within which this share of the successful jobs succeeded; NaN if none did. */
    public double quantile(double share) {
        return quantile(share, Double.NEGATIVE_INFINITY);
    }

    /**
     * Returns the time within which this share of the successful jobs succeeded, of jobs that
     * arrived at this time or later.
     */
    public double quantile(double share, double from) {
        double[] sorted = IntStream.range(0, succeeded)
                .filter(job -> arrived[job] >= from)
                .mapToDouble(job -> took[job])
                .sorted()
                .toArray();
        int count = sorted.length;
        return count == 0 ? Double.NaN : sorted[Math.min(count - 1, (int) Math.ceil(share * count) - 1)];
    }
}
