// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.job.WaitReason;
import io.reprise.store.ControlRow;
import io.reprise.store.Lane;
import io.reprise.store.Unparking;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Shared control state, and the jobs that are parked by it. */
final class MemoryControls {

    private final MemoryTables tables;
    private final Map<String, ControlRow> rows = new TreeMap<>();
    private long lastVersion;

    MemoryControls(MemoryTables tables) {
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

    int unpark(Unparking request) {
        NavigableSet<StoredJob> parked = tables.parked.get(request.name());
        if (parked == null) {
            return 0;
        }
        Instant since = request.since();
        Stream<StoredJob> inOrder = since == null
                ? parked.stream()
                : parked.descendingSet().stream()
                        .takeWhile(job -> !job.dueAt.isBefore(since))
                        .limit(request.look())
                        .filter(job -> job.lane == Lane.FRESH);
        List<StoredJob> first = inOrder.filter(job -> tables.pause(tables.queue(job.spec.queue())) == null)
                .limit(request.max())
                .toList();
        first.forEach(job -> tables.update(job, () -> {
            if (request.free()) {
                job.waitReason = job.lane == Lane.FRESH ? WaitReason.NEW : WaitReason.RETRY;
            }
            job.parkedBy = null;
            job.lane = since == null ? job.lane.fromBacklog() : job.lane;
        }));
        return first.size();
    }
}
