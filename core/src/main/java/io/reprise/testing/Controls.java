// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.store.ControlRow;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/** Shared control state, and the jobs that are parked because of it. */
final class Controls {

    private final Tables tables;
    private final Map<String, ControlRow> rows = new TreeMap<>();
    private long lastVersion;

    Controls(Tables tables) {
        this.tables = tables;
    }

    List<ControlRow> all() {
        return List.copyOf(rows.values());
    }

    OptionalLong put(ControlRow row) {
        ControlRow stored = rows.get(row.name());
        if ((stored == null ? 0 : stored.version()) != row.version()) {
            return OptionalLong.empty();
        }
        rows.put(row.name(), new ControlRow(row.name(), ++lastVersion, row.state()));
        return OptionalLong.of(lastVersion);
    }

    boolean remove(String name, long version) {
        ControlRow stored = rows.get(name);
        return stored != null && stored.version() == version && rows.remove(name, stored);
    }

    Map<String, Long> parked() {
        Map<String, Long> counts = new TreeMap<>();
        tables.parked.forEach((name, jobs) -> counts.put(name, (long) jobs.size()));
        return counts;
    }

    Set<String> parkedBy() {
        return Set.copyOf(tables.parked.keySet());
    }

    int unpark(String name, int max) {
        NavigableSet<StoredJob> parked = tables.parked.get(name);
        if (parked == null) {
            return 0;
        }
        List<StoredJob> first = parked.stream()
                .filter(job -> tables.queue(job.spec.queue()).paused == null)
                .limit(max)
                .toList();
        first.forEach(job -> tables.update(job, () -> job.parkedBy = null));
        return first.size();
    }
}
