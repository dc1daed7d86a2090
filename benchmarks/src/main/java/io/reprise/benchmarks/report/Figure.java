// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.report;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The result of one measurement.
 *
 * @param workload its name, with a suffix where a workload gives several figures
 * @param values by unit; the first one counts in ratios
 */
public record Figure(String workload, Map<String, Double> values) {

    public static final String RATE = "rate";
    static final String OF_DIRECT = "ofDirect";
    static final String P50 = "p50Ms";
    static final String P99 = "p99Ms";

    public static Figure rate(String workload, int jobs, long nanos) {
        return of(workload, RATE, jobs * 1e9 / nanos);
    }

    public static Figure of(String workload, String unit, double value) {
        return new Figure(workload, Map.of(unit, value));
    }

    /** The rate through the server, and its share of the rate in the caller's own process. */
    public static Figure served(String workload, double rate, double direct) {
        Map<String, Double> values = new LinkedHashMap<>();
        values.put(RATE, rate);
        values.put(OF_DIRECT, rate / direct);
        return new Figure(workload, values);
    }

    public static Figure latency(String workload, double p50, double p99) {
        Map<String, Double> values = new LinkedHashMap<>();
        values.put(P50, p50);
        values.put(P99, p99);
        return new Figure(workload, values);
    }
}
