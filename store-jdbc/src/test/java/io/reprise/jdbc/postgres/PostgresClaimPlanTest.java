// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.Postgres;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.store.ClaimRequest;
import io.reprise.store.DueQueues;
import io.reprise.store.Suspects;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** That claims read jobs through indexes and are not compiled, whatever PostgreSQL knows of the table. */
class PostgresClaimPlanTest {

    private static final Dialect DIALECT = new PostgresDialect();
    private static final ClaimRequest ANY = request(Set.of());
    private static final ClaimRequest TYPED = request(Set.of("rare"));

    private static ClaimRequest request(Set<String> types) {
        return new ClaimRequest(
                "worker",
                Duration.ofHours(1),
                100,
                List.of(new ClaimRequest.Demand("busy", 100)),
                0.2,
                Suspects.upTo(1),
                types);
    }

    /** What is in the table, and what the planner knows of it. */
    private enum Known {
        EMPTY {
            @Override
            void fill(Postgres database) {
                database.execute("vacuum analyze reprise_job");
            }
        },
        SMALL {
            @Override
            void fill(Postgres database) {
                insert(database, 20, "busy", 0);
                database.execute("vacuum analyze reprise_job");
            }
        },
        LARGE {
            @Override
            void fill(Postgres database) {
                insert(database, 50_000, "'queue-' || n % 5000", 3_600_000_000L);
                insert(database, 50_000, "'busy'", 0);
                database.execute("vacuum analyze reprise_job");
            }
        },
        /** Nearly all of one queue and of one type. */
        SKEWED {
            @Override
            void fill(Postgres database) {
                insert(database, 100_000, "'busy'", 0);
                insert(database, 50, "'queue-' || n", 3_600_000_000L);
                database.execute("vacuum analyze reprise_job");
            }
        },
        /** Analyzed when it had become empty, and filled since. */
        STALE {
            @Override
            void fill(Postgres database) {
                database.execute("alter table reprise_job set (autovacuum_enabled = false)");
                insert(database, 10_000, "'busy'", 0);
                database.execute("delete from reprise_job");
                database.execute("vacuum analyze reprise_job");
                insert(database, 50_000, "'queue-' || n % 5000", 3_600_000_000L);
                insert(database, 50_000, "'busy'", 0);
            }
        },
        /** Many groups in one queue. */
        GROUPED {
            @Override
            void fill(Postgres database) {
                insert(database, 50_000, "'queue-' || n % 5000", 3_600_000_000L);
                insert(database, 50_000, "'busy'", 0);
                database.execute("update reprise_job set job_group = 'group-' || id % 10000");
                database.execute("vacuum analyze reprise_job");
            }
        },
        /** Never analyzed at all. */
        UNKNOWN {
            @Override
            void fill(Postgres database) {
                database.execute("alter table reprise_job set (autovacuum_enabled = false)");
                insert(database, 50_000, "'queue-' || n % 5000", 3_600_000_000L);
                insert(database, 50_000, "'busy'", 0);
            }
        };

        abstract void fill(Postgres database);

        static void insert(Postgres database, int jobs, String queue, long delay) {
            database.execute("""
                    insert into reprise_job (
                      id, due_at, first_due_at, created_at, lane, priority, queue, type, wait_reason, payload)
                    select nextval('reprise_job_id'), due, due, reprise_now(), n %% 2, n %% 3, %s,
                           case when n %% 5000 = 0 then 'rare' else 'work' end, 'NEW', '{}'
                      from (select n, reprise_now() - n + %d as due from generate_series(1, %d) n) x
                    """.formatted(queue.startsWith("'") ? queue : "'" + queue + "'", delay, jobs));
        }
    }

    @ParameterizedTest
    @EnumSource
    void claims_read_through_indexes(Known known) throws SQLException {
        try (Postgres database = new Postgres()) {
            known.fill(database);
            String look = plan(
                    database,
                    PostgresManyQueues.dueQueuesSql(),
                    Params.of("after", "").and("before", DueQueues.END).and("looks", 500));
            readsThroughIndexes(look);
            assertThat(look).contains("reprise_job_ready");
            readsThroughIndexes(plan(
                    database,
                    PostgresManyQueues.BY_INDEX + PostgresClaims.PROBE,
                    Params.of("queues", new String[] {"busy", "queue-1"})));
            readsThroughIndexes(plan(
                    database,
                    PostgresManyQueues.findSql(DIALECT, PostgresClaims.ofTypes(ANY), 100),
                    PostgresManyQueues.findParams(ANY, List.of("queue-1", "busy"), 100, 10)));
            readsThroughIndexes(plan(
                    database,
                    PostgresManyQueues.findSql(DIALECT, PostgresClaims.ofTypes(TYPED), 100),
                    PostgresManyQueues.findParams(TYPED, List.of("queue-1", "busy"), 100, 10)));
            String[] names = {"busy", "queue-1"};
            String[] ids = {"{1,2,3,4,5}", "{6,7}"};
            readsThroughIndexes(plan(
                    database,
                    PostgresManyQueues.takeSql(DIALECT, false),
                    Params.of("queues", names)
                            .and("ids", ids)
                            .and("worker", "worker")
                            .and("lease_us", 1_000_000L)
                            .and("remote", 0)));
            readsThroughIndexes(plan(
                    database,
                    "select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true);\n"
                            + PostgresClaims.claimSql(DIALECT, 500),
                    Params.of("queue", "busy")
                            .and("jobs", 500)
                            .and("retries", 100)
                            .and("worker", "worker")
                            .and("lease_us", 60_000_000L)
                            .and("remote", 0)
                            .and("floor", 0L)));
            for (String from : List.of("", "group-5")) {
                readsThroughIndexes(plan(
                        database,
                        PostgresTurns.sql(DIALECT),
                        PostgresClaims.params(ANY, "busy", 500)
                                .and("priority", 2)
                                .and("from", from)));
            }
        }
    }

    /** The plan of the last statement of the text, after the others were run. */
    private static String plan(Postgres database, String sql, Params params) throws SQLException {
        try (Connection connection = database.connection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute(PostgresDatabase.settings(Duration.ofMinutes(1)));
            Session session = new Session(connection, DIALECT, 30, Session.Use.POOLED);
            int last = sql.indexOf(";\n") + 2;
            String explained =
                    sql.substring(0, last) + "explain (analyze, costs off, timing off) " + sql.substring(last);
            String plan = String.join("\n", session.listOfLast(explained, SqlRow::text, params));
            connection.rollback();
            return plan;
        }
    }

    private static void readsThroughIndexes(String plan) {
        assertThat(plan)
                .doesNotContain("Seq Scan on reprise_job")
                .doesNotContain("Bitmap Heap Scan on reprise_job")
                .doesNotContain("JIT");
    }
}
