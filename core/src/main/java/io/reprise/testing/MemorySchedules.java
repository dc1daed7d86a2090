// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.job.Enqueued;
import io.reprise.job.JobSpec;
import io.reprise.job.StoredSchedule;
import io.reprise.store.Firing;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Schedules by name. */
final class MemorySchedules {

    private static final Comparator<StoredSchedule> ORDER =
            Comparator.comparing(StoredSchedule::nextAt).thenComparing(StoredSchedule::name);

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

    Optional<StoredSchedule> find(String name) {
        return Optional.ofNullable(rows.get(name));
    }

    List<StoredSchedule> due(int limit, @Nullable StoredSchedule after, Instant now) {
        return rows.values().stream()
                .filter(row -> !row.paused() && !row.nextAt().isAfter(now))
                .sorted(ORDER)
                .filter(row -> after == null || ORDER.compare(row, after) > 0)
                .limit(limit)
                .toList();
    }

    Optional<Instant> nextFiring(Instant now) {
        return rows.values().stream()
                .filter(row -> !row.paused() && row.nextAt().isAfter(now))
                .map(StoredSchedule::nextAt)
                .min(Comparator.naturalOrder());
    }

    boolean stands(Firing firing) {
        StoredSchedule row = rows.get(firing.schedule());
        return row != null && !row.paused() && row.nextAt().equals(firing.dueAt());
    }

    List<Enqueued> move(Firing firing, List<Enqueued> inserted) {
        String name = firing.schedule();
        StoredSchedule old = Objects.requireNonNull(rows.get(name));
        var lastJob = inserted.isEmpty()
                ? old.lastJob()
                : inserted.get(inserted.size() - 1).id();
        Instant next = firing.nextAt().truncatedTo(ChronoUnit.MICROS);
        rows.put(name, new StoredSchedule(name, old.rule(), old.job(), false, next, lastJob));
        return inserted;
    }
}
