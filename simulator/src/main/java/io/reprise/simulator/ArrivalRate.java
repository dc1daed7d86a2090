// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import io.reprise.JobContext;
import org.jspecify.annotations.Nullable;

/** Counts arrivals, calls and successes per second. */
public final class ArrivalRate implements SimulatedHandler.Observer {

    private final World world;
    private final int[] arrived;
    private final int[] succeeded;
    private long jobs;
    private long calls;

    public ArrivalRate(World world, int seconds) {
        this.world = world;
        this.arrived = new int[seconds];
        this.succeeded = new int[seconds];
    }

    public void arrived() {
        arrived[second()]++;
        jobs++;
    }

    @Override
    public void began(SimulatedWorker worker, double arrivedAt, JobContext job) {
        calls++;
    }

    @Override
    public void ended(double arrivedAt, @Nullable Throwable error) {
        if (error == null) {
            succeeded[second()]++;
        }
    }

    private int second() {
        return Math.min((int) world.now(), arrived.length - 1);
    }

    /** Returns successes per arrival, from one second until before another. */
    public double goodput(int from, int until) {
        long good = 0;
        long all = 0;
        for (int second = from; second < Math.min(until, arrived.length); second++) {
            good += succeeded[second];
            all += arrived[second];
        }
        return all == 0 ? Double.NaN : (double) good / all;
    }

    /**
     * Returns the first second, from this one on, that begins a window of at least this goodput; null if there is none.
     */
    public @Nullable Integer firstGood(int from, int window, double share) {
        for (int second = from; second + window <= arrived.length; second++) {
            if (goodput(second, second + window) >= share) {
                return second;
            }
        }
        return null;
    }

    public double amplification() {
        return (double) calls / jobs;
    }

    public void draw(Chart chart, String line) {
        for (int second = 0; second + 5 <= arrived.length; second += 5) {
            chart.point(line, second, Math.min(2, goodput(second, second + 5)));
        }
    }
}
