// SPDX-License-Identifier: Apache-2.0
package io.reprise.text;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Remembers recent answers of a pure function. When it is full, it forgets all of them. Thread-safe. */
public final class Memo<K, V> {

    private final int max;
    private final Function<K, V> function;
    private final Map<K, V> known = new HashMap<>();

    public Memo(int max, Function<K, V> function) {
        this.max = max;
        this.function = function;
    }

    public V of(K key) {
        V value = find(key);
        if (value == null) {
            value = function.apply(key);
            keep(key, value);
        }
        return value;
    }

    private synchronized @Nullable V find(K key) {
        return known.get(key);
    }

    private synchronized void keep(K key, V value) {
        if (known.size() >= max) {
            known.clear();
        }
        known.put(key, value);
    }
}
