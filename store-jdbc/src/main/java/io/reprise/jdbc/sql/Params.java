// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The values of a statement by name, for a statement that says {@code :queue} where it wants the value of "queue". A
 * name may stand in the statement any number of times, and a value may stay unused. Not thread-safe.
 */
public final class Params {

    private final Map<String, @Nullable Object> values = new HashMap<>(32);

    private Params() {}

    public static Params of(String name, @Nullable Object value) {
        return new Params().and(name, value);
    }

    public Params and(String name, @Nullable Object value) {
        if (values.put(name, value) != null) {
            throw new IllegalArgumentException("Two values for :" + name);
        }
        return this;
    }

    /** Returns the values in the order of these names. */
    @Nullable
    Object[] inOrder(List<String> names) {
        @Nullable Object[] ordered = new @Nullable Object[names.size()];
        for (int i = 0; i < names.size(); i++) {
            Object value = values.get(names.get(i));
            if (value == null && !values.containsKey(names.get(i))) {
                throw new IllegalArgumentException("No value for :" + names.get(i) + " among " + values.keySet());
            }
            ordered[i] = value;
        }
        return ordered;
    }
}
