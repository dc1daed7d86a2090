// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobState;
import io.reprise.JobStatus;
import io.reprise.store.DeadGroup;
import io.reprise.store.JobQuery;
import io.reprise.store.Page;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Answers queries by reading jobs from the newest on. */
final class Finding {

    private static final String CURSOR = "before-";

    private Finding() {}

    static Page<Job> find(NavigableMap<JobId, StoredJob> jobs, JobQuery query) {
        String cursor = query.cursor();
        NavigableMap<JobId, StoredJob> rest = cursor == null ? jobs : jobs.headMap(position(cursor), false);
        List<Job> found = rest.descendingMap().values().stream()
                .filter(job -> matches(job, query))
                .limit(query.limit() + 1L)
                .map(StoredJob::read)
                .toList();
        if (found.size() <= query.limit()) {
            return new Page<>(found, null);
        }
        List<Job> page = found.subList(0, query.limit());
        return new Page<>(page, CURSOR + page.get(page.size() - 1).id());
    }

    static List<DeadGroup> deadGroups(NavigableMap<JobId, StoredJob> jobs, JobQuery query, int limit) {
        Map<String, List<Job>> groups = new TreeMap<>();
        find(jobs, query.state(JobState.FAILED).after(null), job -> {
            JobStatus.LastError error = job.status().lastError();
            groups.computeIfAbsent(error == null ? "" : error.fingerprint(), key -> new ArrayList<>())
                    .add(job);
        });
        return groups.entrySet().stream()
                .map(entry -> group(entry.getKey(), entry.getValue()))
                .sorted(Comparator.comparingLong(DeadGroup::count).reversed())
                .limit(limit)
                .toList();
    }

    private static void find(NavigableMap<JobId, StoredJob> jobs, JobQuery query, Consumer<Job> found) {
        jobs.descendingMap().values().stream()
                .filter(job -> matches(job, query))
                .map(StoredJob::read)
                .forEach(found);
    }

    private static DeadGroup group(String fingerprint, List<Job> jobs) {
        List<Instant> times = jobs.stream()
                .map(job -> Objects.requireNonNull(job.times().finishedAt()))
                .sorted()
                .toList();
        return new DeadGroup(
                fingerprint.isEmpty() ? null : fingerprint,
                jobs.size(),
                times.get(0),
                times.get(times.size() - 1),
                jobs.get(0));
    }

    private static JobId position(String cursor) {
        if (!cursor.startsWith(CURSOR)) {
            throw new IllegalArgumentException("A cursor of this store begins with " + CURSOR + ": pass Page.next()");
        }
        return JobId.parse(cursor.substring(CURSOR.length()));
    }

    private static boolean matches(StoredJob job, JobQuery query) {
        return (query.states().isEmpty() || query.states().contains(job.state))
                && (query.tag() == null || job.spec.tags().contains(query.tag()))
                && fits(query.queue(), job.spec.queue())
                && (query.queuePrefix() == null || job.spec.queue().startsWith(query.queuePrefix()))
                && fits(query.type(), job.spec.type())
                && fits(query.resource(), job.spec.resource())
                && fits(query.schedule(), job.spec.schedule())
                && fits(query.fingerprint(), job.lastError == null ? null : job.lastError.fingerprint())
                && (query.createdFrom() == null || !job.createdAt.isBefore(query.createdFrom()))
                && (query.createdBefore() == null || job.createdAt.isBefore(query.createdBefore()));
    }

    private static boolean fits(@Nullable String wanted, @Nullable String actual) {
        return wanted == null || Objects.equals(wanted, actual);
    }
}
