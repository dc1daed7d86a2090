// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.report;

import java.util.ArrayList;
import java.util.List;

/** Samples of a run. Not thread-safe. */
public final class Samples {

    /**
     * One sample.
     *
     * @param nanos time since the first call
     * @param calls calls so far
     * @param done successful calls so far
     * @param parked jobs that the breaker or a budget has parked; 0 unless it was read
     * @param phase phase of the breaker; empty unless it was read
     */
    public record Sample(long nanos, long calls, long done, long parked, String phase) {}

    private final List<Sample> all = new ArrayList<>();

    public void add(Sample sample) {
        all.add(sample);
    }

    public List<Sample> all() {
        return all;
    }

    /** Returns the jobs done per second between two times. */
    public double rate(long from, long to) {
        Sample first = at(from);
        Sample last = at(to);
        long nanos = last.nanos() - first.nanos();
        return nanos == 0 ? 0 : (last.done() - first.done()) * 1e9 / nanos;
    }

    /** Returns the highest rate over any period of this length between two times; over all of it if that is shorter. */
    public double bestRate(long from, long to, long length) {
        double best = rate(from, Math.min(to, from + length));
        for (Sample each : all) {
            if (each.nanos() >= from && each.nanos() + length <= to) {
                best = Math.max(best, rate(each.nanos(), each.nanos() + length));
            }
        }
        return best;
    }

    /** Returns the last sample up to this time, or the first. */
    private Sample at(long nanos) {
        int low = 0;
        int high = all.size() - 1;
        while (low < high) {
            int middle = (low + high + 1) / 2;
            if (all.get(middle).nanos() <= nanos) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return all.get(low);
    }
}
