// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.internal.control.LiveSettings;
import io.reprise.internal.engine.WorkerSettings;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** How many jobs of a type this worker runs at once: the settings of the fleet above those of the code. */
public final class TypeLimits {

    private final WorkerSettings settings;
    private final LiveSettings live;

    public TypeLimits(WorkerSettings settings, LiveSettings live) {
        this.settings = settings;
        this.live = live;
    }

    /** Returns the limit of each type that has one. */
    Map<String, Integer> now() {
        Map<String, Integer> limits = new HashMap<>(settings.typeConcurrency());
        live.now().types().forEach((type, told) -> {
            if (told.concurrency() != null) {
                limits.put(type, told.concurrency());
            }
        });
        return limits;
    }

    /** Returns how many more jobs of each type with a limit this worker may run. */
    Map<String, Integer> rooms(LeaseBook book) {
        Map<String, Integer> rooms = now();
        rooms.replaceAll((type, limit) -> Math.max(0, limit - book.openOf(type)));
        return rooms;
    }

    /** Returns the types of which this worker runs as many jobs as it may. */
    public Set<String> full(LeaseBook book) {
        return rooms(book).entrySet().stream()
                .filter(type -> type.getValue() == 0)
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }
}
