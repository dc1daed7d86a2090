// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.store.JobQuery;
import io.reprise.store.Page;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
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
