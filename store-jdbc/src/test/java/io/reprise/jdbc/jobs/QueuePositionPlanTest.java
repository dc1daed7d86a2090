// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.Postgres;
import io.reprise.jdbc.Sqlite;
import io.reprise.jdbc.postgres.PostgresDialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sqlite.SqliteDialect;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Asking where a job stands looks at no more jobs than it counts, however long the queue is. */
class QueuePositionPlanTest {

    @TempDir
    Path directory;

    @Test
    void postgresql_stops_at_the_limit() throws SQLException {
        try (Postgres postgres = new Postgres()) {
            postgres.execute("""
                    insert into reprise_job (id, due_at, first_due_at, created_at, lane, priority, queue, type, wait_reason, payload)
                    select nextval('reprise_job_id'), n, n, 0, n % 2, n % 3, 'default', 'work', 'NEW', '{}'
                      from generate_series(1, 60000) n
                    """);
            postgres.execute("vacuum analyze reprise_job");
            for (String plan : List.of(
                    plan(postgres, QueuePositions.DUE, params(Long.MAX_VALUE)),
                    plan(postgres, QueuePositions.EARLIER, params(60_000L)))) {
                assertThat(plan).contains("reprise_job_ready").doesNotContain("Seq Scan on reprise_job");
                assertThat(plan.lines().filter(line -> line.contains("rows=")))
                        .as(plan)
                        .allMatch(line -> Double.parseDouble(line.replaceAll(".*rows=([0-9.]+).*", "$1")) <= 1_001);
            }
        }
    }

    private static Params params(long due) {
        return Params.of("queue", "default")
                .and("lane", 0)
                .and("priority", 1)
                .and("turn", "")
                .and("due", due)
                .and("id", 60_000L)
                .and("max", 1_001);
    }

    private static String plan(Postgres postgres, String sql, Params params) throws SQLException {
        try (Connection connection = postgres.connection()) {
            Session session = new Session(connection, new PostgresDialect(), 30, Session.Use.POOLED);
            return String.join(
                    "\n",
                    session.list(
                            "explain (analyze, costs off, timing off, summary off) "
                                    + session.dialect().sql(sql),
                            SqlRow::text,
                            params));
        }
    }

    @Test
    void sqlite_walks_one_stretch_of_the_ready_index() throws SQLException {
        Path file = directory.resolve("jobs.db");
        try (JdbcJobStore store = JdbcJobStore.sqlite(file)) {
            store.prepare();
        }
        try (Connection connection = Sqlite.connection(file)) {
            Session session = new Session(connection, new SqliteDialect(), 0, Session.Use.POOLED);
            for (String sql : List.of(QueuePositions.DUE, QueuePositions.EARLIER)) {
                List<String> steps = session.list(
                        "explain query plan " + session.dialect().sql(sql),
                        row -> {
                            row.number();
                            row.number();
                            row.number();
                            return row.text();
                        },
                        params(60_000L));
                assertThat(String.join("\n", steps))
                        .contains(
                                "INDEX reprise_job_ready (queue=? AND lane=? AND priority=? AND turn=? AND due_at>? AND due_at<?)");
            }
        }
    }
}
