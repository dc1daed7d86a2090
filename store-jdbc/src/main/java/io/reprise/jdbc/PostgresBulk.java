// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.store.Inserted;
import java.io.IOException;
import java.io.StringReader;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/** Many jobs without keys: ids and time in one round trip, then the rows in another. */
final class PostgresBulk {

    /** From here on COPY pays. */
    private static final int COPY_FROM = 200;

    private static final String RESERVE = """
            select nextval('reprise_job_id'), reprise_now()
              from generate_series(1, ?)
            """;

    private static final String COPY = """
            copy reprise_job (id, created_at, due_at, first_due_at, deadline, wait_reason, {spec})
            from stdin
            """;

    private PostgresBulk() {}

    private record Reserved(long id, long now) {}

    static List<Inserted> insert(Inserts inserts, Session session, List<JobSpec> jobs) throws SQLException {
        List<Reserved> reserved = session.list(RESERVE, row -> new Reserved(row.number(), row.number()), jobs.size());
        List<Inserted> answers = new ArrayList<>(jobs.size());
        for (int i = 0; i < jobs.size(); i++) {
            Reserved row = reserved.get(i);
            answers.add(new Inserted(new JobId(row.id()), true, Micros.instant(due(jobs.get(i), row.now()))));
        }
        if (jobs.size() >= COPY_FROM && !session.isJoined()) {
            copy(session, jobs, reserved, inserts.specs());
        } else {
            List<@Nullable Object[]> rows = new ArrayList<>(jobs.size());
            for (int i = 0; i < jobs.size(); i++) {
                rows.add(inserts.values(jobs.get(i), reserved.get(i).id()));
            }
            session.updateEach(Inserts.insertSql(session.dialect()), rows);
        }
        return answers;
    }

    private static long due(JobSpec spec, long now) {
        Long asked = Specs.asked(spec);
        Long delay = Specs.delay(spec);
        return Math.max(now, asked != null ? asked : now + (delay == null ? 0 : delay));
    }

    private static void copy(Session session, List<JobSpec> jobs, List<Reserved> reserved, Specs specs)
            throws SQLException {
        StringBuilder rows = new StringBuilder(jobs.size() * 200);
        for (int i = 0; i < jobs.size(); i++) {
            JobSpec spec = jobs.get(i);
            long now = reserved.get(i).now();
            long due = due(spec, now);
            Long deadline = Specs.deadline(spec);
            append(rows, reserved.get(i).id(), now, due, due, deadline == null ? null : due + deadline);
            append(rows, due > now ? "DELAYED" : "NEW");
            append(rows, specs.values(spec));
            rows.setCharAt(rows.length() - 1, '\n');
        }
        // The driver's own timeout does not reach a copy; this one ends with the transaction.
        session.list(
                "select set_config('statement_timeout', ?, true)",
                row -> 1,
                Integer.toString(session.timeoutSeconds() * 1_000));
        try {
            session.connection()
                    .unwrap(PGConnection.class)
                    .getCopyAPI()
                    .copyIn(session.dialect().sql(COPY), new StringReader(rows.toString()));
        } catch (IOException e) {
            throw new SQLException("the rows to copy could not be sent", "08006", e);
        }
    }

    private static void append(StringBuilder rows, @Nullable Object... values) {
        for (Object value : values) {
            if (value == null) {
                rows.append("\\N");
            } else if (value instanceof String text) {
                escape(rows, Session.storable(text));
            } else {
                rows.append(value);
            }
            rows.append('\t');
        }
    }

    private static void escape(StringBuilder rows, String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '\\' -> rows.append("\\\\");
                case '\t' -> rows.append("\\t");
                case '\n' -> rows.append("\\n");
                case '\r' -> rows.append("\\r");
                default -> rows.append(c);
            }
        }
    }
}
