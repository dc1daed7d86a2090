// SPDX-License-Identifier: Apache-2.0
package io.reprise.micrometer;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The values of one label: the first {@link #MAX} values, and {@link #OTHER} for all that come later. Thread-safe. */
final class Labels {

    static final int MAX = 100;
    static final String OTHER = "other";
    static final String NONE = "none";

    private final Set<String> known = ConcurrentHashMap.newKeySet();

    String of(@Nullable String value) {
        if (value == null) {
            return NONE;
        }
        if (known.contains(value)) {
            return value;
        }
        // Not exact if several threads add values at once: a few labels more do no harm.
        return known.size() < MAX && known.add(value) ? value : OTHER;
    }
}
