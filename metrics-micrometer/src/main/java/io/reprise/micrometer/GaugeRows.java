// SPDX-License-Identifier: Apache-2.0
package io.reprise.micrometer;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.HashMap;
import java.util.Map;

/**
 * Gauges of one name for a changing set of tags. A gauge whose tags are still there stays registered and only changes
 * its value. So a concurrent collection of meters never misses it. Only collection may run concurrently; otherwise not
 * thread-safe.
 */
final class GaugeRows {

    private final MeterRegistry registry;
    private final String name;
    private final String description;
    private final Map<Tags, Row> rows = new HashMap<>();

    private static final class Row {
        private volatile double value;
    }

    GaugeRows(MeterRegistry registry, String name, String description) {
        this.registry = registry;
        this.name = name;
        this.description = description;
    }

    /** Shows these values, and removes all other gauges of the name. */
    void show(Map<Tags, Double> values) {
        values.forEach((tags, value) -> {
            Row row = rows.get(tags);
            if (row == null) {
                rows.put(tags, register(tags, value));
            } else {
                row.value = value;
            }
        });
        rows.keySet().removeIf(tags -> {
            boolean gone = !values.containsKey(tags);
            if (gone) {
                registry.find(name).tags(tags).meters().forEach(registry::remove);
            }
            return gone;
        });
    }

    private Row register(Tags tags, double value) {
        Row row = new Row();
        row.value = value;
        Gauge.builder(name, row, shown -> shown.value)
                .description(description)
                .tags(tags)
                .strongReference(true)
                .register(registry);
        return row;
    }
}
