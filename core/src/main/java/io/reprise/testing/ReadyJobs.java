// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.store.Lane;
import io.reprise.store.Turns;
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

/**
 * The waiting jobs of one queue, by lane, priority, turn and due time, so that a claim reads only the jobs that it takes.
 */
final class ReadyJobs {

    static final Comparator<StoredJob> BY_DUE = (one, other) -> {
        int byDue = one.dueAt.compareTo(other.dueAt);
        return byDue == 0 ? one.id.compareTo(other.id) : byDue;
    };

    private final Map<Lane, NavigableMap<Integer, NavigableMap<String, NavigableSet<StoredJob>>>> lanes =
            new EnumMap<>(Lane.class);

    /** Delayed jobs and retries of groups: they have no turn of their own yet. */
    private final NavigableSet<StoredJob> late = new TreeSet<>(BY_DUE);

    void add(StoredJob job) {
        lanes.computeIfAbsent(job.lane, lane -> new TreeMap<>(Comparator.reverseOrder()))
                .computeIfAbsent(job.spec.priority(), priority -> new TreeMap<>())
                .computeIfAbsent(job.turn(), turn -> new TreeSet<>(BY_DUE))
                .add(job);
        if (job.awaitsTurn()) {
            late.add(job);
        }
    }

    void remove(StoredJob job) {
        late.remove(job);
        NavigableMap<Integer, NavigableMap<String, NavigableSet<StoredJob>>> levels = lanes.get(job.lane);
        if (levels != null) {
            levels.computeIfPresent(job.spec.priority(), (priority, turns) -> {
                turns.computeIfPresent(job.turn(), (turn, jobs) -> {
                    jobs.remove(job);
                    return jobs.isEmpty() ? null : jobs;
                });
                return turns.isEmpty() ? null : turns;
            });
        }
    }

    /** The first jobs that wait for a turn of their own and were due before this time. */
    List<StoredJob> late(Instant before, int max) {
        return late.stream()
                .takeWhile(job -> job.dueAt.isBefore(before))
                .limit(max)
                .toList();
    }

    /** The priorities of a lane, from the highest on. */
    List<Integer> priorities(Lane lane) {
        return List.copyOf(levels(lane).keySet());
    }

    /** The turns of a level in their order from this one on and once around, each with its due jobs. */
    List<Turns.Waiting<StoredJob>> walk(
            Lane lane, int priority, String from, int most, Instant now, Predicate<StoredJob> wanted) {
        NavigableMap<String, NavigableSet<StoredJob>> turns = levels(lane).getOrDefault(priority, new TreeMap<>());
        List<Turns.Waiting<StoredJob>> found = new ArrayList<>();
        Iterator<Map.Entry<String, NavigableSet<StoredJob>>> around = Stream.concat(
                        turns.tailMap(from, true).entrySet().stream(), turns.headMap(from, false).entrySet().stream())
                .iterator();
        while (found.size() < most && around.hasNext()) {
            Map.Entry<String, NavigableSet<StoredJob>> turn = around.next();
            Iterator<StoredJob> jobs = turn.getValue().stream()
                    .takeWhile(job -> !job.dueAt.isAfter(now))
                    .filter(job -> !job.isOverdue(now) && wanted.test(job))
                    .iterator();
            if (jobs.hasNext()) {
                found.add(new Turns.Waiting<>(turn.getKey(), jobs));
            }
        }
        return found;
    }

    /**
     * The first due jobs of a lane. A job past its deadline leaves the index for good, because no run of it can start.
     */
    List<StoredJob> due(Lane lane, Instant now, int max, Predicate<StoredJob> wanted) {
        List<StoredJob> found = new ArrayList<>();
        Iterator<NavigableSet<StoredJob>> turns = turns(levels(lane)).iterator();
        while (found.size() < max && turns.hasNext()) {
            Iterator<StoredJob> jobs = turns.next().iterator();
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

    /** Whether a job is due, perhaps only one past its deadline. Idle workers ask often, so it does without streams. */
    boolean mayBeDue(Lane lane, Instant now) {
        NavigableMap<Integer, NavigableMap<String, NavigableSet<StoredJob>>> levels = lanes.get(lane);
        if (levels == null) {
            return false;
        }
        for (NavigableMap<String, NavigableSet<StoredJob>> turns : levels.values()) {
            for (NavigableSet<StoredJob> jobs : turns.values()) {
                if (!jobs.isEmpty() && !jobs.first().dueAt.isAfter(now)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Whether a job can be claimed. */
    boolean isDue(Instant now) {
        return lanes.keySet().stream()
                .anyMatch(lane -> !due(lane, now, 1, job -> true).isEmpty());
    }

    /** The number of due jobs of higher priority in the same lane. */
    int higher(StoredJob job, Instant now, int most) {
        return (int) turns(levels(job.lane).headMap(job.spec.priority()))
                .flatMap(level -> level.stream().takeWhile(other -> !other.dueAt.isAfter(now)))
                .limit(most)
                .count();
    }

    /** The number of jobs of the same lane, priority and turn that come before this job. */
    int earlier(StoredJob job, int most) {
        NavigableSet<StoredJob> peers = levels(job.lane)
                .getOrDefault(job.spec.priority(), new TreeMap<>())
                .get(job.turn());
        return peers == null ? 0 : (int) peers.headSet(job).stream().limit(most).count();
    }

    private NavigableMap<Integer, NavigableMap<String, NavigableSet<StoredJob>>> levels(Lane lane) {
        NavigableMap<Integer, NavigableMap<String, NavigableSet<StoredJob>>> levels = lanes.get(lane);
        return levels == null ? new TreeMap<>(Comparator.reverseOrder()) : levels;
    }

    private static Stream<NavigableSet<StoredJob>> turns(
            Map<Integer, NavigableMap<String, NavigableSet<StoredJob>>> levels) {
        return levels.values().stream().flatMap(turns -> turns.values().stream());
    }

    @Nullable
    Instant oldestDueAt(Instant now) {
        Stream<StoredJob> first = lanes.values().stream()
                .flatMap(levels -> turns(levels))
                .map(jobs -> jobs.isEmpty() ? null : jobs.first())
                .filter(Objects::nonNull);
        return first.map(job -> job.dueAt)
                .filter(due -> !due.isAfter(now))
                .min(Comparator.naturalOrder())
                .orElse(null);
    }
}
