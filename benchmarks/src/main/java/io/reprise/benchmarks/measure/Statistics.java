// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.measure;

import java.util.Arrays;
import java.util.List;

/** Medians and percentiles of a few numbers. */
public final class Statistics {

    private Statistics() {}

    /** Returns the middle value, or the mean of the two in the middle. */
    public static double median(List<Double> values) {
        double[] sorted = sorted(values);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    public static double min(List<Double> values) {
        return sorted(values)[0];
    }

    public static double max(List<Double> values) {
        return sorted(values)[values.size() - 1];
    }

    /** Returns the smallest value that at least this part of all values does not exceed. */
    public static double percentile(List<Double> values, double part) {
        double[] sorted = sorted(values);
        return sorted[Math.max(0, (int) Math.ceil(part * sorted.length) - 1)];
    }

    private static double[] sorted(List<Double> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("no values");
        }
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
        Arrays.sort(sorted);
        return sorted;
    }
}
