// SPDX-License-Identifier: Apache-2.0
package io.reprise.text;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.DoubleConsumer;
import java.util.function.IntConsumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** The members of one JSON object. Each member is read as the type it must have, or refused by name. */
public final class JsonFields {

    private final String what;
    private final Map<?, ?> members;

    private JsonFields(String what, Map<?, ?> members) {
        this.what = what;
        this.members = members;
    }

    public static JsonFields of(String what, @Nullable Object value, List<String> allowed) {
        if (!(value instanceof Map<?, ?> members)) {
            throw new IllegalArgumentException(what + " must be a JSON object");
        }
        for (Object name : members.keySet()) {
            if (!allowed.contains(name)) {
                throw new IllegalArgumentException(what + " has no field \"" + Truncation.cut(String.valueOf(name), 100)
                        + "\"; allowed: " + String.join(", ", allowed));
            }
        }
        return new JsonFields(what, members);
    }

    public JsonFields require(String... names) {
        for (String name : names) {
            if (!has(name)) {
                throw new IllegalArgumentException(what + " needs the field \"" + name + "\"");
            }
        }
        return this;
    }

    public boolean has(String name) {
        return members.containsKey(name);
    }

    /** Runs {@code then} if the member is present and null. After that the other readers ignore this name. */
    public void none(String name, Runnable then) {
        if (has(name) && members.get(name) == null) {
            members.remove(name);
            then.run();
        }
    }

    public void text(String name, Consumer<String> then) {
        if (has(name)) {
            then.accept(asText(name, members.get(name)));
        }
    }

    public void duration(String name, Consumer<Duration> then) {
        if (has(name)) {
            then.accept(asDuration(name, members.get(name)));
        }
    }

    public void integer(String name, IntConsumer then) {
        if (has(name)) {
            then.accept(asInteger(name, members.get(name)));
        }
    }

    public void wholeNumber(String name, LongConsumer then) {
        if (has(name)) {
            if (!(members.get(name) instanceof Long number)) {
                throw wrong(name, members.get(name), "a whole number");
            }
            then.accept(number);
        }
    }

    public void number(String name, DoubleConsumer then) {
        if (has(name)) {
            if (!(members.get(name) instanceof Number number)) {
                throw wrong(name, members.get(name), "a number");
            }
            then.accept(number.doubleValue());
        }
    }

    public void bool(String name, Consumer<Boolean> then) {
        if (has(name)) {
            if (!(members.get(name) instanceof Boolean bool)) {
                throw wrong(name, members.get(name), "true or false");
            }
            then.accept(bool);
        }
    }

    public void list(String name, Consumer<List<?>> then) {
        if (has(name)) {
            if (!(members.get(name) instanceof List<?> list)) {
                throw wrong(name, members.get(name), "an array");
            }
            then.accept(list);
        }
    }

    public void object(String name, Consumer<Object> then) {
        if (has(name)) {
            if (!(members.get(name) instanceof Map<?, ?> map)) {
                throw wrong(name, members.get(name), "an object");
            }
            then.accept(map);
        }
    }

    public String asText(String name, @Nullable Object value) {
        if (value instanceof String text) {
            return text;
        }
        throw wrong(name, value, "a string");
    }

    public int asInteger(String name, @Nullable Object value) {
        if (value instanceof Long number && number == number.intValue()) {
            return number.intValue();
        }
        throw wrong(name, value, "a whole number");
    }

    public static Duration asDuration(String name, @Nullable Object value) {
        return Optional.ofNullable(value instanceof String text ? text : null)
                .flatMap(DurationText::parse)
                .orElseThrow(
                        () -> wrong(name, value, "a duration such as \"500ms\", \"30s\", \"1m30s\" or \"PT1M30S\""));
    }

    private static IllegalArgumentException wrong(String name, @Nullable Object value, String wanted) {
        return Bounds.refused(name, JsonText.write(value), wanted);
    }
}
