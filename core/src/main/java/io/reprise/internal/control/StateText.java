// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A state as text: one {@code name=value} per line. A missing field has a default, and an unknown field is ignored. So
 * workers of different versions can share the state.
 */
final class StateText {

    private static final Pattern LINE_BREAK = Pattern.compile("\\R");
    private static final double MAX_CREDIT = 1e9;

    private static final Duration YEAR = Duration.ofDays(365);

    /** Workers may differ by this much about the time of the store. */
    private static final Duration SKEW = Duration.ofSeconds(10);

    private final Map<String, String> values = new LinkedHashMap<>();

    static StateText parse(String text) {
        StateText fields = new StateText();
        text.lines().forEach(line -> {
            int split = line.indexOf('=');
            if (split > 0) {
                fields.values.put(line.substring(0, split), line.substring(split + 1));
            }
        });
        return fields;
    }

    StateText put(String name, @Nullable Object value) {
        if (value instanceof String text) {
            values.put(name, LINE_BREAK.matcher(text).replaceAll(" "));
        } else if (value != null) {
            values.put(name, value.toString());
        }
        return this;
    }

    @Nullable
    String text(String name) {
        return values.get(name);
    }

    String text(String name, String otherwise) {
        return values.getOrDefault(name, otherwise);
    }

    /** Returns a finite number, at most {@link #MAX_CREDIT} in either direction; 0 if it is missing or unreadable. */
    double number(String name) {
        double value = read(name, Double::parseDouble, 0.0);
        return Double.isNaN(value) ? 0 : Math.max(-MAX_CREDIT, Math.min(value, MAX_CREDIT));
    }

    int integer(String name) {
        return read(name, Integer::parseInt, 0);
    }

    /** Returns a time in the past. A time in the future comes from a clock that was wrong, and is read as now. */
    Instant past(String name, Instant now) {
        return past(name, now, now);
    }

    /** Returns a time in the past, or {@code otherwise} for a time in the future. */
    Instant past(String name, Instant now, Instant otherwise) {
        Instant value = near(name, now);
        return value.isAfter(now.plus(SKEW)) ? otherwise : value;
    }

    /** Returns a time that is at most {@code ahead} in the future; now for any later time. */
    Instant within(String name, Duration ahead, Instant now) {
        return past(name, now.plus(ahead), now);
    }

    /** Returns a time within a year of now, so that differences do not overflow. */
    private Instant near(String name, Instant now) {
        Instant value = read(name, Instant::parse, now);
        Instant earliest = now.minus(YEAR);
        Instant latest = now.plus(YEAR);
        return value.isBefore(earliest) ? earliest : value.isAfter(latest) ? latest : value;
    }

    Duration duration(String name, Duration otherwise) {
        Duration value = read(name, Duration::parse, otherwise);
        return value.isNegative() || value.compareTo(YEAR) > 0 ? otherwise : value;
    }

    private <T> T read(String name, Function<String, T> parser, T otherwise) {
        String value = values.get(name);
        try {
            return value == null ? otherwise : parser.apply(value);
        } catch (RuntimeException unreadable) {
            // Another version or a person wrote the value. The default serves, and the worker goes on.
            return otherwise;
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        values.forEach((name, value) ->
                text.append(text.isEmpty() ? "" : "\n").append(name).append('=').append(value));
        return text.toString();
    }
}
