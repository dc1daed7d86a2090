// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.report;

import io.reprise.benchmarks.measure.Statistics;
import io.reprise.benchmarks.measure.StoreKind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The figures of all rounds for one system and one workload. */
final class Series {

    final String system;
    final StoreKind store;
    final String workload;
    /** Why there are no figures; null if there are. */
    final @Nullable String cannot;

    private final Map<Integer, Map<String, Double>> rounds = new TreeMap<>();

    Series(String system, StoreKind store, String workload, @Nullable String cannot) {
        this.system = system;
        this.store = store;
        this.workload = workload;
        this.cannot = cannot;
    }

    void add(int round, Map<String, Double> values) {
        rounds.put(round, new LinkedHashMap<>(values));
    }

    boolean isEmpty() {
        return rounds.isEmpty();
    }

    Set<String> units() {
        return rounds.values().iterator().next().keySet();
    }

    /** Returns the unit that counts in ratios. */
    String unit() {
        return units().iterator().next();
    }

    List<Map<String, Double>> rounds() {
        return List.copyOf(rounds.values());
    }

    List<Double> values(String unit) {
        List<Double> values = new ArrayList<>();
        for (Map<String, Double> round : rounds.values()) {
            Double value = round.get(unit);
            if (value != null) {
                values.add(value);
            }
        }
        return values;
    }

    double median(String unit) {
        return Statistics.median(values(unit));
    }

    /** Returns the median of the ratios within each round, because rounds differ more than systems do. */
    Optional<Double> ratioTo(@Nullable Series other) {
        List<Double> ratios = new ArrayList<>();
        if (other != null && !isEmpty() && !other.isEmpty()) {
            rounds.forEach((round, values) -> {
                Map<String, Double> beside = other.rounds.get(round);
                Double mine = values.get(unit());
                Double theirs = beside == null ? null : beside.get(unit());
                if (mine != null && theirs != null && theirs != 0) {
                    ratios.add(mine / theirs);
                }
            });
        }
        return ratios.isEmpty() ? Optional.empty() : Optional.of(Statistics.median(ratios));
    }
}
