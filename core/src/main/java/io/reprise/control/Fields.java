// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A state as text: one {@code name=value} per line. Fields that are not there take a default and unknown ones are
 * ignored, so that versions can differ within a fleet.
 */
final class Fields {

    private static final Duration SLACK = Duration.ofSeconds(10);

    private final Map<String, String> values = new LinkedHashMap<>();

    static Fields parse(String text) {
        Fields fields = new Fields();
        text.lines().forEach(line -> {
            int split = line.indexOf('=');
            if (split > 0) {
                fields.values.put(line.substring(0, split), line.substring(split + 1));
            }
        });
        return fields;
    }

    Fields put(String name, @Nullable Object value) {
        if (value != null) {
            values.put(name, value.toString().replaceAll("\\R", " "));
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

    double number(String name) {
        double value = read(name, Double::parseDouble, 0.0);
        return Double.isFinite(value) ? value : 0;
    }

    int integer(String name) {
        return read(name, Integer::parseInt, 0);
    }

    /** A time in the past, give or take what workers may differ; one that is not is taken for now. */
    Instant past(String name, Instant now) {
        return past(name, now, now);
    }

    Instant past(String name, Instant now, Instant otherwise) {
        Instant value = read(name, Instant::parse, now);
        return value.isAfter(now.plus(SLACK)) ? otherwise : value;
    }

    /** A time no further ahead than this. */
    Instant within(String name, Duration ahead, Instant now) {
        return past(name, now.plus(ahead), now);
    }

    Duration duration(String name, Duration otherwise) {
        return read(name, Duration::parse, otherwise);
    }

    private <T> T read(String name, Function<String, T> parser, T otherwise) {
        String value = values.get(name);
        try {
            return value == null ? otherwise : parser.apply(value);
        } catch (RuntimeException unreadable) {
            // Written by another version or by hand: less is known, but nothing stops.
            return otherwise;
        }
    }

    @Override
    public String toString() {
        return values.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining("\n"));
    }
}
