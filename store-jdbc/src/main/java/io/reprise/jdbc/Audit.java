// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.JobId;
import io.reprise.store.AuditEntry;
import io.reprise.store.Note;
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
            select at, action, job_id, subject, by_whom, why, detail
              from reprise_audit
             order by id desc
             limit ?
            """;

    private static final String READ_JOB = """
            select at, action, job_id, subject, by_whom, why, detail
              from reprise_audit
             where job_id = ?
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

    static List<AuditEntry> read(Session session, @Nullable JobId job, int limit) throws SQLException {
        return job == null ? session.list(READ, Audit::entry, limit) : session.list(READ_JOB, Audit::entry, job, limit);
    }

    private static AuditEntry entry(Row row) throws SQLException {
        Instant at = row.instant();
        String action = row.text();
        Long job = row.numberOrNull();
        String subject = row.textOrNull();
        Note note = new Note(row.text(), row.textOrNull());
        return new AuditEntry(at, action, job == null ? null : new JobId(job), subject, note, row.textOrNull());
    }
}
