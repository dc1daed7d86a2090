// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.insight.LogLine;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.job.JobId;
import io.reprise.store.LogPart;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The log lines of runs, several in one row. The lines of the latest runs of a job are kept, as its history is. */
public final class LogTable {

    private static final String LIVE = "select id from reprise_job where id {in ?}";

    private static final String ENDED = "select id from {finished} where id {in ?}";

    private static final String WRITE = """
            insert into reprise_log (job_id, token, part, body)
            values (:job, :token, :part, :body)
            {on_conflict (job_id, token, part)} body = {new.body}
            """;

    private static final String TRIM = """
            {delete reprise_log by primary}
             where job_id = :job
               and token < (
                 select x.token
                   from (select distinct token
                           from reprise_log
                          where job_id = :job
                          order by token desc
                          limit 1 offset :kept) x)
            """;

    private static final String FIND = """
            select token, body
              from reprise_log
             where job_id = ? and token >= ?
             order by token, part
            """;

    private LogTable() {}

    /**
     * Writes parts of jobs that exist.
     *
     * @param kept how many runs of a job keep their lines
     */
    public static void write(Session session, List<LogPart> parts, int kept) throws SQLException {
        Dialect dialect = session.dialect();
        Set<Long> jobs = new HashSet<>();
        for (long[] piece : dialect.pieces(parts.stream()
                .mapToLong(part -> part.job().value())
                .distinct()
                .sorted()
                .toArray())) {
            jobs.addAll(session.list(dialect.sql(LIVE), SqlRow::number, (Object) piece));
            jobs.addAll(session.list(dialect.sql(ENDED), SqlRow::number, (Object) piece));
        }
        List<Params> rows = new ArrayList<>();
        List<Params> begun = new ArrayList<>();
        for (LogPart part : parts) {
            if (jobs.contains(part.job().value())) {
                rows.add(Params.of("job", part.job())
                        .and("token", part.token())
                        .and("part", part.part())
                        .and("body", part.toText()));
                if (part.part() == 0) {
                    begun.add(Params.of("job", part.job()).and("kept", kept - 1));
                }
            }
        }
        if (!rows.isEmpty()) {
            session.updateEachCounted(dialect.sql(WRITE), rows);
        }
        if (!begun.isEmpty()) {
            session.updateEachNamed(dialect.sql(TRIM), begun);
        }
    }

    /** Returns the lines of a job's runs under this token and under later ones. */
    public static List<LogLine> find(Session session, JobId job, long from) throws SQLException {
        List<LogLine> lines = new ArrayList<>();
        session.list(FIND, row -> lines.addAll(LogPart.parse(row.number(), row.text())), job, from);
        return lines;
    }
}
