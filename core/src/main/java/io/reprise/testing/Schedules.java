// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.JobSpec;
import io.reprise.store.Inserted;
import io.reprise.store.StoredSchedule;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Schedules by name. */
final class Schedules {

    private final Map<String, StoredSchedule> rows = new TreeMap<>();

    List<StoredSchedule> all() {
        return List.copyOf(rows.values());
    }

    void put(String name, String rule, JobSpec job, Instant nextAt) {
        StoredSchedule old = rows.get(name);
        Instant next = old != null && old.rule().equals(rule) ? old.nextAt() : nextAt.truncatedTo(ChronoUnit.MICROS);
        rows.put(
                name,
                old == null
                        ? new StoredSchedule(name, rule, job, false, next, null)
                        : new StoredSchedule(name, rule, job, old.paused(), next, old.lastJob()));
    }

    boolean remove(String name) {
        return rows.remove(name) != null;
    }

    boolean pause(String name, boolean paused) {
        return rows.computeIfPresent(
                        name, (n, s) -> new StoredSchedule(n, s.rule(), s.job(), paused, s.nextAt(), s.lastJob()))
                != null;
    }

    @Nullable
    List<Inserted> fire(String name, Instant dueAt, Instant nextAt, Supplier<List<Inserted>> insert) {
        StoredSchedule old = rows.get(name);
        if (old == null || old.paused() || !old.nextAt().equals(dueAt)) {
            return null;
        }
        List<Inserted> inserted = insert.get();
        var lastJob = inserted.isEmpty()
                ? old.lastJob()
                : inserted.get(inserted.size() - 1).id();
        Instant next = nextAt.truncatedTo(ChronoUnit.MICROS);
        rows.put(name, new StoredSchedule(name, old.rule(), old.job(), false, next, lastJob));
        return inserted;
    }
}
