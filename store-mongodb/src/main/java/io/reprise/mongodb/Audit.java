// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.JobId;
import io.reprise.store.AuditEntry;
import io.reprise.store.Note;
import io.reprise.store.Page;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.bson.Document;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

/** Writes actions of people to the collection {@code audit}. */
final class Audit {

    private static final Document NEWEST_FIRST = new Document("at_us", -1).append(Fields.ID, -1);

    private Audit() {}

    static void job(Scope scope, long at, String action, JobId job, Note note, @Nullable String detail) {
        write(scope, note(note).append("at_us", at).append("action", action).append("job", job.value()), detail);
    }

    /**
     * Writes one entry for each of many jobs.
     *
     * @param detail of each job
     */
    static void jobs(
            Scope scope, long at, Note note, Map<JobId, String> actions, Function<JobId, @Nullable String> detail) {
        List<Document> entries = new ArrayList<>();
        actions.forEach((job, action) -> entries.add(note(note)
                .append("at_us", at)
                .append("action", action)
                .append("job", job.value())
                .append("detail", detail.apply(job))));
        if (!entries.isEmpty()) {
            scope.docs(Scope.AUDIT).insert(entries);
        }
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

    /**
     * Returns the filter for entries after the entry that a cursor names.
     *
     * @throws IllegalArgumentException if the cursor cannot be read
     */
    private static Document after(@Nullable String cursor) {
        if (cursor == null) {
            return new Document();
        }
        int dash = cursor.indexOf('-');
        if (dash < 0 || !ObjectId.isValid(cursor.substring(dash + 1))) {
            throw new IllegalArgumentException("'" + cursor + "' is not a cursor: pass Page.next()");
        }
        long at = Long.parseLong(cursor.substring(0, dash));
        Document earlier = new Document("at_us", new Document("$lt", at));
        Document beside = new Document("at_us", at)
                .append(Fields.ID, new Document("$lt", new ObjectId(cursor.substring(dash + 1))));
        return new Document("$or", List.of(earlier, beside));
    }

    /** Reads one entry more than the page holds, to know whether there are more. */
    static Page<AuditEntry> read(Scope scope, @Nullable JobId job, int limit, @Nullable String cursor) {
        Document filter = after(cursor);
        if (job != null) {
            filter.append("job", job.value());
        }
        List<Document> found = new ArrayList<>();
        scope.docs(Scope.AUDIT).find(filter).sort(NEWEST_FIRST).limit(limit + 1).forEach(found::add);
        boolean more = found.size() > limit;
        List<Document> page = more ? found.subList(0, limit) : found;
        return new Page<>(page.stream().map(Audit::read).toList(), more ? cursor(page.get(limit - 1)) : null);
    }

    static int prune(Scope scope, Duration age, int limit) {
        Document old = new Document("at_us", new Document("$lt", scope.now() - Micros.of(age)));
        List<ObjectId> ids = new ArrayList<>();
        scope.docs(Scope.AUDIT)
                .find(old)
                .projection(new Document(Fields.ID, 1))
                .sort(new Document("at_us", 1))
                .limit(limit)
                .forEach(entry -> ids.add(entry.getObjectId(Fields.ID)));
        Document those = new Document(Fields.ID, new Document("$in", ids));
        return ids.isEmpty() ? 0 : (int) scope.docs(Scope.AUDIT).deleteAll(those);
    }

    private static String cursor(Document entry) {
        return Fields.numberOr(entry, "at_us", 0) + "-"
                + entry.getObjectId(Fields.ID).toHexString();
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
