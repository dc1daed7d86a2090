// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

import java.util.ArrayList;
import java.util.List;

/** What a run looked like from time to time. Not thread-safe. */
final class Samples {

    /**
     * One look.
     *
     * @param nanos since the first call
     * @param calls so far
     * @param done calls that succeeded so far
     * @param parked jobs that wait for the breaker or the budget; 0 unless somebody asked
     * @param phase of the breaker; empty unless somebody asked
     */
    record Sample(long nanos, long calls, long done, long parked, String phase) {}

    private final List<Sample> all = new ArrayList<>();

    void add(Sample sample) {
        all.add(sample);
    }

    List<Sample> all() {
        return all;
    }

    /** Jobs done per second between two times. */
    double rate(long from, long to) {
        Sample first = at(from);
        Sample last = at(to);
        long nanos = last.nanos() - first.nanos();
        return nanos == 0 ? 0 : (last.done() - first.done()) * 1e9 / nanos;
    }

    /** The highest rate of any time of this length between two times; of all of it if that is shorter. */
    double bestRate(long from, long to, long length) {
        double best = rate(from, Math.min(to, from + length));
        for (Sample each : all) {
            if (each.nanos() >= from && each.nanos() + length <= to) {
                best = Math.max(best, rate(each.nanos(), each.nanos() + length));
            }
        }
        return best;
    }

    /** The last one that was taken by this time, or the first. */
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
