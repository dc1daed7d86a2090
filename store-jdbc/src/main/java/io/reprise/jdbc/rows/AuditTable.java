// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.AuditEntry;
import io.reprise.job.AuditNote;
import io.reprise.job.JobId;
import io.reprise.job.Page;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Writes actions of people to {@code reprise_audit}, in the transaction of the action. */
public final class AuditTable {

    private static final String WRITE = """
            insert into reprise_audit (at, action, job_id, subject, by_whom, why, detail)
            values ({now}, ?, ?, ?, ?, ?, ?)
            """;

    private static final String WRITE_TOGETHER = """
            insert into reprise_audit (at, action, job_id, subject, by_whom, why, detail)
            select {now}, cast(? as text), x.id, null, cast(? as text), cast(? as text), cast(? as text)
              from {ids}
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

    // Ids grow with time, so the first young entry ends the search.
    private static final String OLD = """
            select id
              from (select id, at
                      from reprise_audit
                     order by id
                     limit ?) o
             where at < ?
            """;

    private AuditTable() {}

    public static int prune(Session session, Duration age, int limit) throws SQLException {
        Dialect dialect = session.dialect();
        long before = session.now() - SqlTime.of(age);
        int deleted = 0;
        for (long[] piece : dialect.pieces(session.list(OLD, SqlRow::number, limit, before).stream()
                .mapToLong(Long::longValue)
                .toArray())) {
            deleted += session.update(dialect.sql("{delete reprise_audit by primary} where id {in ?}"), (Object) piece);
        }
        return deleted;
    }

    public static void write(
            Session session,
            String action,
            @Nullable JobId job,
            @Nullable String subject,
            AuditNote note,
            @Nullable String detail)
            throws SQLException {
        session.update(session.dialect().sql(WRITE), action, job, subject, note.by(), note.why(), detail);
    }

    /** Writes one entry for each job. */
    public static void writeAll(
            Session session,
            String action,
            Collection<JobId> jobs,
            AuditNote note,
            Function<JobId, @Nullable String> detail)
            throws SQLException {
        String table = session.dialect().idTable();
        if (table != null) {
            writeTogether(session, action, jobs, note, detail, table);
            return;
        }
        List<@Nullable Object[]> rows = new ArrayList<>();
        for (JobId job : jobs) {
            rows.add(new @Nullable Object[] {action, job, null, note.by(), note.why(), detail.apply(job)});
        }
        if (!rows.isEmpty()) {
            session.updateEach(session.dialect().sql(WRITE), rows);
        }
    }

    /** Writes all entries with the same detail in one statement. There are few different details. */
    private static void writeTogether(
            Session session,
            String action,
            Collection<JobId> jobs,
            AuditNote note,
            Function<JobId, @Nullable String> detail,
            String table)
            throws SQLException {
        Map<String, List<Long>> alike = new TreeMap<>();
        for (JobId job : jobs) {
            String about = detail.apply(job);
            alike.computeIfAbsent(about == null ? "" : about, text -> new ArrayList<>())
                    .add(job.value());
        }
        for (Map.Entry<String, List<Long>> some : alike.entrySet()) {
            session.update(
                    session.dialect().sql(WRITE_TOGETHER.replace("{ids}", table)),
                    action,
                    note.by(),
                    note.why(),
                    some.getKey().isEmpty() ? null : some.getKey(),
                    some.getValue().stream().mapToLong(Long::longValue).sorted().toArray());
        }
    }

    private record Numbered(long id, AuditEntry entry) {}

    /** Reads one entry more than the page holds, to know whether there are more. */
    public static Page<AuditEntry> read(Session session, @Nullable JobId job, int limit, long before)
            throws SQLException {
        List<Numbered> found = job == null
                ? session.list(READ, AuditTable::entry, before, limit + 1)
                : session.list(READ_JOB, AuditTable::entry, job, before, limit + 1);
        boolean more = found.size() > limit;
        List<Numbered> page = more ? found.subList(0, limit) : found;
        return new Page<>(
                page.stream().map(Numbered::entry).toList(), more ? Long.toString(page.get(limit - 1).id) : null);
    }

    private static Numbered entry(SqlRow row) throws SQLException {
        long id = row.number();
        Instant at = row.instant();
        String action = row.text();
        Long job = row.numberOrNull();
        String subject = row.textOrNull();
        AuditNote note = new AuditNote(row.text(), row.textOrNull());
        JobId of = job == null ? null : new JobId(job);
        return new Numbered(id, new AuditEntry(at, action, of, subject, note, row.textOrNull()));
    }
}
