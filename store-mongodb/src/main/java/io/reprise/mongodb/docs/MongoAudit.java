// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import io.reprise.job.AuditEntry;
import io.reprise.job.AuditNote;
import io.reprise.job.JobId;
import io.reprise.job.Page;
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
public final class MongoAudit {

    private static final Document NEWEST_FIRST = new Document("at_us", -1).append(FieldNames.ID, -1);

    private MongoAudit() {}

    public static void job(
            MongoScope scope, long at, String action, JobId job, AuditNote note, @Nullable String detail) {
        write(scope, note(note).append("at_us", at).append("action", action).append("job", job.value()), detail);
    }

    /**
     * Writes one entry for each of many jobs.
     *
     * @param detail of each job
     */
    public static void jobs(
            MongoScope scope,
            long at,
            AuditNote note,
            Map<JobId, String> actions,
            Function<JobId, @Nullable String> detail) {
        List<Document> entries = new ArrayList<>();
        actions.forEach((job, action) -> entries.add(note(note)
                .append("at_us", at)
                .append("action", action)
                .append("job", job.value())
                .append("detail", detail.apply(job))));
        if (!entries.isEmpty()) {
            scope.docs(MongoScope.AUDIT).insert(entries);
        }
    }

    public static void subject(
            MongoScope scope, long at, String action, String subject, AuditNote note, @Nullable String detail) {
        write(scope, note(note).append("at_us", at).append("action", action).append("subject", subject), detail);
    }

    private static void write(MongoScope scope, Document entry, @Nullable String detail) {
        scope.docs(MongoScope.AUDIT).insert(entry.append("detail", detail));
    }

    public static Document note(AuditNote note) {
        return new Document("by", note.by()).append("why", note.why());
    }

    public static AuditNote note(Document from) {
        return new AuditNote(
                Objects.requireNonNullElse(FieldNames.text(from, "by"), "unknown"), FieldNames.text(from, "why"));
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
                .append(FieldNames.ID, new Document("$lt", new ObjectId(cursor.substring(dash + 1))));
        return new Document("$or", List.of(earlier, beside));
    }

    /** Reads one entry more than the page holds, to know whether there are more. */
    public static Page<AuditEntry> read(MongoScope scope, @Nullable JobId job, int limit, @Nullable String cursor) {
        Document filter = after(cursor);
        if (job != null) {
            filter.append("job", job.value());
        }
        List<Document> found = new ArrayList<>();
        scope.docs(MongoScope.AUDIT)
                .find(filter)
                .sort(NEWEST_FIRST)
                .limit(limit + 1)
                .forEach(found::add);
        boolean more = found.size() > limit;
        List<Document> page = more ? found.subList(0, limit) : found;
        return new Page<>(page.stream().map(MongoAudit::read).toList(), more ? cursor(page.get(limit - 1)) : null);
    }

    public static int prune(MongoScope scope, Duration age, int limit) {
        Document old = new Document("at_us", new Document("$lt", scope.now() - MongoTime.of(age)));
        List<ObjectId> ids = new ArrayList<>();
        scope.docs(MongoScope.AUDIT)
                .find(old)
                .projection(new Document(FieldNames.ID, 1))
                .sort(new Document("at_us", 1))
                .limit(limit)
                .forEach(entry -> ids.add(entry.getObjectId(FieldNames.ID)));
        Document those = new Document(FieldNames.ID, new Document("$in", ids));
        return ids.isEmpty() ? 0 : (int) scope.docs(MongoScope.AUDIT).deleteAll(those);
    }

    private static String cursor(Document entry) {
        return FieldNames.numberOr(entry, "at_us", 0) + "-"
                + entry.getObjectId(FieldNames.ID).toHexString();
    }

    private static AuditEntry read(Document entry) {
        Long job = FieldNames.number(entry, "job");
        return new AuditEntry(
                MongoTime.instant(FieldNames.numberOr(entry, "at_us", 0)),
                Objects.requireNonNullElse(FieldNames.text(entry, "action"), "unknown"),
                job == null ? null : new JobId(job),
                FieldNames.text(entry, "subject"),
                note(entry),
                FieldNames.text(entry, "detail"));
    }
}
