// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.JobId;
import io.reprise.store.AuditEntry;
import io.reprise.store.Note;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What was done by hand, newest first. */
final class AuditLog {

    private static final int MAX_ENTRIES = 10_000;

    private final Deque<AuditEntry> entries = new ArrayDeque<>();

    void job(Instant at, String action, JobId job, Note note, @Nullable String detail) {
        add(new AuditEntry(at, action, job, null, note, detail));
    }

    void subject(Instant at, String action, String subject, Note note, @Nullable String detail) {
        add(new AuditEntry(at, action, null, subject, note, detail));
    }

    private void add(AuditEntry entry) {
        entries.addFirst(entry);
        if (entries.size() > MAX_ENTRIES) {
            entries.removeLast();
        }
    }

    List<AuditEntry> read(@Nullable JobId job, int limit) {
        return entries.stream()
                .filter(entry -> job == null || job.equals(entry.job()))
                .limit(limit)
                .toList();
    }
}
