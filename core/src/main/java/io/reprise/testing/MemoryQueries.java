// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.insight.DeadGroup;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.Page;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Answers queries by reading jobs from the newest on. */
final class MemoryQueries {

    private static final String CURSOR = "before-";

    private MemoryQueries() {}

    /** The jobs that a search found, and the cursor where it ended; null at the end. */
    private record Look(List<StoredJob> found, @Nullable String next) {}

    static Page<Job> find(NavigableMap<JobId, StoredJob> jobs, JobQuery query) {
        Look look = look(jobs, query, query.limit());
        return new Page<>(
                look.found.stream()
                        .map(job -> query.isBrief() ? job.read().brief() : job.read())
                        .toList(),
                look.next);
    }

    static Page<DeadGroup> deadGroups(NavigableMap<JobId, StoredJob> jobs, JobQuery query, int limit) {
        Look look = look(jobs, query.state(JobState.FAILED), Integer.MAX_VALUE);
        Map<String, List<Job>> groups = new TreeMap<>();
        for (StoredJob job : look.found) {
            groups.computeIfAbsent(job.lastError == null ? "" : job.lastError.fingerprint(), key -> new ArrayList<>())
                    .add(job.read());
        }
        List<DeadGroup> largest = groups.entrySet().stream()
                .map(entry -> group(entry.getKey(), entry.getValue(), query.isBrief()))
                .sorted(Comparator.comparingLong(DeadGroup::count).reversed())
                .limit(limit)
                .toList();
        return new Page<>(largest, look.next);
    }

    /** Searches from the newest job on, until there is one more than wanted or the limit of rows is reached. */
    private static Look look(NavigableMap<JobId, StoredJob> jobs, JobQuery query, int most) {
        String cursor = query.cursor();
        NavigableMap<JobId, StoredJob> rest = cursor == null ? jobs : jobs.headMap(position(cursor), false);
        List<StoredJob> found = new ArrayList<>();
        int scanned = 0;
        JobId last = null;
        for (StoredJob job : rest.descendingMap().values()) {
            boolean matches = query.matches(job.read());
            if (scanned == query.looks() || (matches && found.size() == most)) {
                return new Look(found, CURSOR + last);
            }
            if (matches) {
                found.add(job);
            }
            scanned += isPassed(job, query) ? 0 : 1;
            last = job.id;
        }
        return new Look(found, null);
    }

    /** Whether a store with indexes on dead letters would not read this job. */
    private static boolean isPassed(StoredJob job, JobQuery query) {
        return query.states().equals(Set.of(JobState.FAILED))
                && (job.state != JobState.FAILED
                        || !fits(query.queue(), job.spec.queue())
                        || !fits(query.fingerprint(), fingerprint(job)));
    }

    private static @Nullable String fingerprint(StoredJob job) {
        return job.lastError == null ? null : job.lastError.fingerprint();
    }

    private static DeadGroup group(String fingerprint, List<Job> jobs, boolean brief) {
        List<Instant> times = jobs.stream()
                .map(job -> Objects.requireNonNull(job.times().finishedAt()))
                .sorted()
                .toList();
        return new DeadGroup(
                fingerprint.isEmpty() ? null : fingerprint,
                jobs.size(),
                times.get(0),
                times.get(times.size() - 1),
                brief ? jobs.get(0).brief() : jobs.get(0));
    }

    private static JobId position(String cursor) {
        if (!cursor.startsWith(CURSOR)) {
            throw new IllegalArgumentException("A cursor of this store begins with " + CURSOR + ": pass Page.next()");
        }
        return JobId.parse(cursor.substring(CURSOR.length()));
    }

    private static boolean fits(@Nullable String wanted, @Nullable String actual) {
        return wanted == null || wanted.equals(actual);
    }
}
