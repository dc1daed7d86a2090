// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.job.AuditEntry;
import io.reprise.job.AuditNote;
import io.reprise.job.JobId;
import io.reprise.job.Page;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The operations that people did, newest first. Bounded: the oldest entries go. */
final class MemoryAudit {

    private static final int MAX_ENTRIES = 10_000;

    private record Numbered(long number, AuditEntry entry) {}

    private final Deque<Numbered> entries = new ArrayDeque<>();
    private long last;

    void job(Instant at, String action, JobId job, AuditNote note, @Nullable String detail) {
        add(new AuditEntry(at, action, job, null, note, detail));
    }

    void subject(Instant at, String action, String subject, AuditNote note, @Nullable String detail) {
        add(new AuditEntry(at, action, null, subject, new AuditNote(note.by(), note.why()), detail));
    }

    private void add(AuditEntry entry) {
        entries.addFirst(new Numbered(++last, entry));
        if (entries.size() > MAX_ENTRIES) {
            entries.removeLast();
        }
    }

    int prune(Instant horizon, int limit) {
        int pruned = 0;
        for (Numbered oldest = entries.peekLast();
                pruned < limit && oldest != null && oldest.entry.at().isBefore(horizon);
                oldest = entries.peekLast()) {
            entries.removeLast();
            pruned++;
        }
        return pruned;
    }

    Page<AuditEntry> read(@Nullable JobId job, int limit, @Nullable String cursor) {
        long before = cursor == null ? Long.MAX_VALUE : Long.parseLong(cursor);
        List<Numbered> found = entries.stream()
                .filter(each -> each.number < before && (job == null || job.equals(each.entry.job())))
                .limit(limit + 1L)
                .toList();
        boolean more = found.size() > limit;
        List<Numbered> page = more ? found.subList(0, limit) : found;
        return new Page<>(
                page.stream().map(Numbered::entry).toList(), more ? Long.toString(page.get(limit - 1).number) : null);
    }
}
