// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.JobId;
import io.reprise.store.AuditEntry;
import io.reprise.store.Note;
import io.reprise.store.Page;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What was done by hand, written in the same transaction. */
final class Audit {

    private static final String WRITE = """
            insert into reprise_audit (at, action, job_id, subject, by_whom, why, detail)
            values ({now}, ?, ?, ?, ?, ?, ?)
            """;

    private static final String READ = """
            select id, at, action, job_id, subject, by_whom, why, detail
              from reprise_audit
             where id < ?
             order by id desc
             limit ?
            """;

    private static final String READ_JOB = """
            select id, at, action, job_id, subject, by_whom, why, detail
              from reprise_audit
             where job_id = ? and id < ?
             order by id desc
             limit ?
            """;

    private Audit() {}

    static void write(
            Session session,
            String action,
            @Nullable JobId job,
            @Nullable String subject,
            Note note,
            @Nullable String detail)
            throws SQLException {
        session.update(session.dialect().sql(WRITE), action, job, subject, note.by(), note.why(), detail);
    }

    private record Numbered(long id, AuditEntry entry) {}

    /** One more than the page holds is read, to know whether there are more. */
    static Page<AuditEntry> read(Session session, @Nullable JobId job, int limit, long before) throws SQLException {
        List<Numbered> found = job == null
                ? session.list(READ, Audit::entry, before, limit + 1)
                : session.list(READ_JOB, Audit::entry, job, before, limit + 1);
        boolean more = found.size() > limit;
        List<Numbered> page = more ? found.subList(0, limit) : found;
        return new Page<>(
                page.stream().map(Numbered::entry).toList(), more ? Long.toString(page.get(limit - 1).id) : null);
    }

    private static Numbered entry(Row row) throws SQLException {
        long id = row.number();
        Instant at = row.instant();
        String action = row.text();
        Long job = row.numberOrNull();
        String subject = row.textOrNull();
        Note note = new Note(row.text(), row.textOrNull());
        JobId of = job == null ? null : new JobId(job);
        return new Numbered(id, new AuditEntry(at, action, of, subject, note, row.textOrNull()));
    }
}
