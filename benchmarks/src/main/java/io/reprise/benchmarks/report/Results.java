// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.report;

import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.system.Systems;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;

/** All series of a run, and their JSON form. */
public final class Results {

    private final StoreKind store;
    private final Map<String, Series> series = new LinkedHashMap<>();

    public Results(StoreKind store) {
        this.store = store;
    }

    public void add(String system, int round, Figure figure) {
        series.computeIfAbsent(
                        figure.workload() + "/" + system, key -> new Series(system, store, figure.workload(), null))
                .add(round, figure.values());
    }

    public void cannot(String system, String workload, String why) {
        series.putIfAbsent(workload + "/" + system, new Series(system, store, workload, why));
    }

    /** Returns the series grouped by workload; workloads and systems in the order in which they were first seen. */
    List<Series> all() {
        return workloads().stream().flatMap(this::of).toList();
    }

    List<String> workloads() {
        return series.values().stream().map(each -> each.workload).distinct().toList();
    }

    Stream<Series> of(String workload) {
        return series.values().stream().filter(each -> each.workload.equals(workload));
    }

    Optional<Series> find(String workload, String system) {
        return Optional.ofNullable(series.get(workload + "/" + system));
    }

    Optional<Double> ofRaw(Series each) {
        return each.ratioTo(find(each.workload, Systems.RAW).orElse(null));
    }

    public String json() {
        List<Map<String, Object>> results = new ArrayList<>();
        for (Series each : all()) {
            results.add(json(each));
        }
        return new JsonMapper().writeValueAsString(Map.of("results", results));
    }

    private Map<String, Object> json(Series each) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("system", each.system);
        fields.put("store", each.store.toString());
        fields.put("workload", each.workload);
        if (each.cannot != null) {
            fields.put("cannot", each.cannot);
            return fields;
        }
        each.units().forEach(unit -> fields.put(unit, rounded(each.median(unit))));
        fields.put("rounds", each.units().size() == 1 ? plainRounds(each) : namedRounds(each));
        ofRaw(each).ifPresent(ratio -> fields.put("ofRaw", rounded(ratio)));
        return fields;
    }

    private static List<Double> plainRounds(Series each) {
        return each.values(each.unit()).stream().map(Results::rounded).toList();
    }

    private static List<Map<String, Double>> namedRounds(Series each) {
        List<Map<String, Double>> rounds = new ArrayList<>();
        for (Map<String, Double> round : each.rounds()) {
            Map<String, Double> values = new LinkedHashMap<>();
            round.forEach((unit, value) -> values.put(unit, rounded(value)));
            rounds.add(values);
        }
        return rounds;
    }

    /** Rounds to three decimals: more would suggest a precision that is not there. */
    private static double rounded(double value) {
        return Math.round(value * 1000) / 1000.0;
    }
}
