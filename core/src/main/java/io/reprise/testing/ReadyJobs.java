// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.store.Lane;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The waiting jobs of one queue, by lane, priority and due time, so that a claim reads only the jobs that it takes. */
final class ReadyJobs {

    static final Comparator<StoredJob> BY_DUE = (one, other) -> {
        int byDue = one.dueAt.compareTo(other.dueAt);
        return byDue == 0 ? one.id.compareTo(other.id) : byDue;
    };

    private final Map<Lane, NavigableMap<Integer, NavigableSet<StoredJob>>> lanes = new EnumMap<>(Lane.class);

    void add(StoredJob job) {
        lanes.computeIfAbsent(job.lane, lane -> new TreeMap<>(Comparator.reverseOrder()))
                .computeIfAbsent(job.spec.priority(), priority -> new TreeSet<>(BY_DUE))
                .add(job);
    }

    void remove(StoredJob job) {
        NavigableMap<Integer, NavigableSet<StoredJob>> levels = lanes.get(job.lane);
        if (levels != null) {
            levels.computeIfPresent(job.spec.priority(), (priority, jobs) -> {
                jobs.remove(job);
                return jobs.isEmpty() ? null : jobs;
            });
        }
    }

    /**
     * The first due jobs of a lane. A job past its deadline leaves the index for good, because no run of it can start.
     */
    List<StoredJob> due(Lane lane, Instant now, int max, Predicate<StoredJob> wanted) {
        List<StoredJob> found = new ArrayList<>();
        for (NavigableSet<StoredJob> level : levels(lane).values()) {
            Iterator<StoredJob> jobs = level.iterator();
            while (found.size() < max && jobs.hasNext()) {
                StoredJob job = jobs.next();
                if (job.dueAt.isAfter(now)) {
                    break;
                }
                if (job.isOverdue(now)) {
                    jobs.remove();
                } else if (wanted.test(job)) {
                    found.add(job);
                }
            }
        }
        return found;
    }

    /** Whether a job can be claimed. */
    boolean isDue(Instant now) {
        return lanes.keySet().stream()
                .anyMatch(lane -> !due(lane, now, 1, job -> true).isEmpty());
    }

    /** The number of due jobs of higher priority in the same lane. */
    int higher(StoredJob job, Instant now, int most) {
        return (int) levels(job.lane).headMap(job.spec.priority()).values().stream()
                .flatMap(level -> level.stream().takeWhile(other -> !other.dueAt.isAfter(now)))
                .limit(most)
                .count();
    }

    /** The number of jobs of the same lane and priority that come before this job. */
    int earlier(StoredJob job, int most) {
        NavigableSet<StoredJob> peers = levels(job.lane).get(job.spec.priority());
        return peers == null ? 0 : (int) peers.headSet(job).stream().limit(most).count();
    }

    private NavigableMap<Integer, NavigableSet<StoredJob>> levels(Lane lane) {
        NavigableMap<Integer, NavigableSet<StoredJob>> levels = lanes.get(lane);
        return levels == null ? new TreeMap<>(Comparator.reverseOrder()) : levels;
    }

    @Nullable
    Instant oldestDueAt(Instant now) {
        Stream<StoredJob> first = lanes.values().stream()
                .flatMap(levels -> levels.values().stream())
                .map(jobs -> jobs.isEmpty() ? null : jobs.first())
                .filter(Objects::nonNull);
        return first.map(job -> job.dueAt)
                .filter(due -> !due.isAfter(now))
                .min(Comparator.naturalOrder())
                .orElse(null);
    }
}
