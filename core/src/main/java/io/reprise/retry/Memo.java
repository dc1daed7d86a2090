// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** Answers of a pure function that were asked for of late. Bounded: when it is full it begins anew. Thread-safe. */
final class Memo<K, V> {

    private final int max;
    private final Function<K, V> function;
    private final Map<K, V> known = new ConcurrentHashMap<>();

    Memo(int max, Function<K, V> function) {
        this.max = max;
        this.function = function;
    }

    V of(K key) {
        V value = known.get(key);
        if (value == null) {
            value = function.apply(key);
            if (known.size() >= max) {
                known.clear();
            }
            known.put(key, value);
        }
        return value;
    }
}
