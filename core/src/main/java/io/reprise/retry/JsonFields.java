// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.text.Bounds;
import io.reprise.text.JsonText;
import io.reprise.text.Truncation;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.DoubleConsumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** The members of one JSON object. Each member is read as the type it must have, or refused by name. */
final class JsonFields {

    private final String what;
    private final Map<?, ?> members;

    private JsonFields(String what, Map<?, ?> members) {
        this.what = what;
        this.members = members;
    }

    static JsonFields of(String what, @Nullable Object value, List<String> allowed) {
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

    JsonFields require(String... names) {
        for (String name : names) {
            if (!has(name)) {
                throw new IllegalArgumentException(what + " needs the field \"" + name + "\"");
            }
        }
        return this;
    }

    boolean has(String name) {
        return members.containsKey(name);
    }

    /** Runs {@code then} if the member is present and null. After that the other readers ignore this name. */
    void none(String name, Runnable then) {
        if (has(name) && members.get(name) == null) {
            members.remove(name);
            then.run();
        }
    }

    void text(String name, Consumer<String> then) {
        if (has(name)) {
            then.accept(asText(name, members.get(name)));
        }
    }

    void duration(String name, Consumer<Duration> then) {
        if (has(name)) {
            then.accept(PolicyJson.duration(name, members.get(name)));
        }
    }

    void integer(String name, IntConsumer then) {
        if (has(name)) {
            then.accept(asInteger(name, members.get(name)));
        }
    }

    void number(String name, DoubleConsumer then) {
        if (has(name)) {
            if (!(members.get(name) instanceof Number number)) {
                throw wrong(name, members.get(name), "a number");
            }
            then.accept(number.doubleValue());
        }
    }

    void bool(String name, Consumer<Boolean> then) {
        if (has(name)) {
            if (!(members.get(name) instanceof Boolean bool)) {
                throw wrong(name, members.get(name), "true or false");
            }
            then.accept(bool);
        }
    }

    void list(String name, Consumer<List<?>> then) {
        if (has(name)) {
            if (!(members.get(name) instanceof List<?> list)) {
                throw wrong(name, members.get(name), "an array");
            }
            then.accept(list);
        }
    }

    void object(String name, Consumer<Object> then) {
        if (has(name)) {
            if (!(members.get(name) instanceof Map<?, ?> map)) {
                throw wrong(name, members.get(name), "an object");
            }
            then.accept(map);
        }
    }

    String asText(String name, @Nullable Object value) {
        if (value instanceof String text) {
            return text;
        }
        throw wrong(name, value, "a string");
    }

    int asInteger(String name, @Nullable Object value) {
        if (value instanceof Long number && number == number.intValue()) {
            return number.intValue();
        }
        throw wrong(name, value, "a whole number");
    }

    private static IllegalArgumentException wrong(String name, @Nullable Object value, String wanted) {
        return Bounds.refused(name, JsonText.write(value), wanted);
    }
}
