// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The measured values of one policy, by name, in the order of the table.
 *
 * @param values whole numbers, decimals, texts or booleans; null where there is no such number
 */
public record ReportRow(String policy, Map<String, @Nullable Object> values) {

    public ReportRow {
        values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
    }

    public static ReportRow of(String policy) {
        return new ReportRow(policy, Map.of());
    }

    public ReportRow with(String name, @Nullable Object value) {
        Map<String, @Nullable Object> more = new LinkedHashMap<>(values);
        more.put(name, value);
        return new ReportRow(policy, more);
    }

    /** Adds a number, rounded to this many decimals; null if it is not finite. */
    public ReportRow with(String name, double value, int decimals) {
        return with(
                name,
                Double.isFinite(value) ? BigDecimal.valueOf(value).setScale(decimals, RoundingMode.HALF_UP) : null);
    }

    /**
     * Returns a number of this row.
     *
     * @throws IllegalArgumentException if there is none of this name
     */
    public double number(String name) {
        if (values.get(name) instanceof Number number) {
            return number.doubleValue();
        }
        throw new IllegalArgumentException("no number " + name + " in " + this);
    }
}
