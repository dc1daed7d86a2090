// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.JobId;
import io.reprise.store.AuditEntry;
import io.reprise.store.Note;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** What was done by hand. */
final class Audit {

    private static final Document NEWEST_FIRST = new Document("at_us", -1).append(Fields.ID, -1);

    private Audit() {}

    static void job(Scope scope, long at, String action, JobId job, Note note, @Nullable String detail) {
        write(scope, note(note).append("at_us", at).append("action", action).append("job", job.value()), detail);
    }

    static void subject(Scope scope, long at, String action, String subject, Note note, @Nullable String detail) {
        write(scope, note(note).append("at_us", at).append("action", action).append("subject", subject), detail);
    }

    private static void write(Scope scope, Document entry, @Nullable String detail) {
        scope.docs(Scope.AUDIT).insert(entry.append("detail", detail));
    }

    static Document note(Note note) {
        return new Document("by", note.by()).append("why", note.why());
    }

    static Note note(Document from) {
        return new Note(Objects.requireNonNullElse(Fields.text(from, "by"), "unknown"), Fields.text(from, "why"));
    }

    static List<AuditEntry> read(Scope scope, @Nullable JobId job, int limit) {
        List<AuditEntry> entries = new ArrayList<>();
        scope.docs(Scope.AUDIT)
                .find(job == null ? new Document() : new Document("job", job.value()))
                .sort(NEWEST_FIRST)
                .limit(limit)
                .forEach(entry -> entries.add(read(entry)));
        return entries;
    }

    private static AuditEntry read(Document entry) {
        Long job = Fields.number(entry, "job");
        return new AuditEntry(
                Micros.instant(Fields.numberOr(entry, "at_us", 0)),
                Objects.requireNonNullElse(Fields.text(entry, "action"), "unknown"),
                job == null ? null : new JobId(job),
                Fields.text(entry, "subject"),
                note(entry),
                Fields.text(entry, "detail"));
    }
}
