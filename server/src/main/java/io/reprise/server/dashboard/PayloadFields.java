// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.dashboard;

import io.reprise.job.Job;
import io.reprise.server.http.Json;
import io.reprise.server.http.Schema;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Where the payloads of some jobs differ: the commonest values of each field at the top of the JSON. */
final class PayloadFields {

    /** Payloads that are longer are not read. */
    private static final int LONGEST = 16_384;

    private static final int FIELDS = 20;
    private static final int VALUES = 5;
    private static final int VALUE_LENGTH = 200;

    private static final Schema VALUE = Schema.object()
            .must("text", Schema.text(0, VALUE_LENGTH).about("JSON as it is stored, cut after 200 characters"))
            .must("jobs", Schema.integer(1, Integer.MAX_VALUE))
            .named("PayloadValue");

    private static final Schema FIELD = Schema.object()
            .must("name", Schema.text(0, LONGEST))
            .must("jobs", Schema.integer(1, Integer.MAX_VALUE).about("jobs that have the field"))
            .must("distinct", Schema.integer(1, Integer.MAX_VALUE).about("different values among them"))
            .must("values", Schema.array(VALUE, 1, VALUES).about("the commonest first"))
            .named("PayloadField");

    static final Schema SCHEMA = Schema.object()
            .must("items", Schema.array(FIELD, 0, FIELDS).about("fields with few different values first"))
            .must("looked", Schema.integer(0, Integer.MAX_VALUE).about("payloads that were read"))
            .named("PayloadFields");

    private PayloadFields() {}

    static Map<String, @Nullable Object> of(List<Job> jobs) {
        Map<String, Map<String, Integer>> fields = new TreeMap<>();
        int looked = 0;
        for (Job job : jobs) {
            String payload = job.spec().payload();
            if (payload.length() <= LONGEST && payload.startsWith("{") && Json.isJson(payload)) {
                looked++;
                for (Map.Entry<String, JsonNode> field : Json.parse(payload).properties()) {
                    String value = field.getValue().toString();
                    fields.computeIfAbsent(field.getKey(), name -> new TreeMap<>())
                            .merge(
                                    value.length() <= VALUE_LENGTH ? value : value.substring(0, VALUE_LENGTH),
                                    1,
                                    Integer::sum);
                }
            }
        }
        List<Map<String, @Nullable Object>> items = new ArrayList<>();
        fields.entrySet().stream()
                .sorted(Map.Entry.comparingByValue((one, other) -> Integer.compare(one.size(), other.size())))
                .limit(FIELDS)
                .forEach(field -> items.add(view(field.getKey(), field.getValue())));
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("items", items);
        view.put("looked", looked);
        return view;
    }

    private static Map<String, @Nullable Object> view(String name, Map<String, Integer> values) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("name", name);
        view.put("jobs", values.values().stream().mapToInt(Integer::intValue).sum());
        view.put("distinct", values.size());
        view.put(
                "values",
                values.entrySet().stream()
                        .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
                        .limit(VALUES)
                        .map(value -> Map.of("text", value.getKey(), "jobs", value.getValue()))
                        .toList());
        return view;
    }
}
