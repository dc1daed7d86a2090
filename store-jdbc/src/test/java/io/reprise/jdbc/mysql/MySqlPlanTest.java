// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.mysql;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.MariaDb;
import io.reprise.jdbc.jobs.JobQueries;
import io.reprise.jdbc.jobs.JobUpkeep;
import io.reprise.jdbc.jobs.QueuePositions;
import io.reprise.jdbc.rows.ControlTable;
import io.reprise.jdbc.rows.QueueTable;
import io.reprise.jdbc.sql.JsonRows;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.ParkedJobs;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.job.Job;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.DueQueues;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How many rows and index entries MySQL touches with 20,000 jobs waiting, as many scheduled for later and as many parked. */
class MySqlPlanTest {

    private static final int BATCH = 500;

    private static MariaDb mariadb;
    private static MySqlDialect dialect;
    private static Claim claim;

    @BeforeAll
    static void fill() {
        mariadb = new MariaDb();
        mariadb.empty();
        dialect = new MySqlDialect(() -> {
            throw new AssertionError("no numbers are needed");
        });
        mariadb.execute("""
                insert into reprise_job (
                  id, due_at, first_due_at, created_at, lane, priority, queue, type, wait_reason, payload, parked_by)
                select 1000000 + n, due, due, 0, lane, n % 3, 'default', 'work', 'NEW', '{}',
                       case when lane >= 3 then concat('breaker/provider-', n % 2) end
                  from (
                    select n, case when n % 3 = 0 then 4000000000000000 + n else n end as due,
                           case when n % 3 = 1 then 3 + n % 2 else n % 2 end as lane
                      from (
                        select a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n as n
                          from {digits} a join {digits} b join {digits} c join {digits} d
                          join (select 0 as n union all select 1 union all select 2 union all select 3
                                union all select 4 union all select 5) e) x) y
                """.replace(
                        "{digits}",
                        "(select 0 as n union all select 1 union all select 2 union all select 3"
                                + " union all select 4 union all select 5 union all select 6 union all select 7"
                                + " union all select 8 union all select 9)"));
        mariadb.query("analyze table reprise_job");
        claim = mariadb.store()
                .claim(new ClaimRequest(
                        "worker",
                        Duration.ofHours(1),
                        BATCH,
                        List.of(new ClaimRequest.Demand("default", BATCH)),
                        0.2,
                        false))
                .get(0);
    }

    @AfterAll
    static void close() {
        mariadb.empty();
        mariadb.close();
    }

    private interface Work {
        void on(Session session) throws SQLException;
    }

    /** Rows and index entries read by what is then rolled back. */
    private static long reads(Work work) throws SQLException {
        try (Connection connection = mariadb.connection()) {
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            connection.setAutoCommit(false);
            Session session = new Session(connection, dialect, 30, Session.Use.POOLED);
            session.define("flush status");
            work.on(session);
            long reads = session
                    .list(
                            "show session status like 'Handler_read%'",
                            row -> {
                                row.text();
                                return row.number();
                            })
                    .stream()
                    .mapToLong(Long::longValue)
                    .sum();
            connection.rollback();
            return reads;
        }
    }

    private static long[] held() {
        return claim.jobs().stream().mapToLong(job -> job.id().value()).sorted().toArray();
    }

    @Test
    void an_idle_worker_looks_at_few_entries() throws SQLException {
        assertThat(reads(session -> assertThat(session.list(
                                dialect.sql(MySqlClaims.levelsSql(2)),
                                row -> row.text() + row.integer(),
                                "default",
                                "other"))
                        .hasSizeGreaterThanOrEqualTo(2)))
                .isLessThan(2 * BATCH);
    }

    @Test
    void a_look_for_due_queues_jumps_from_level_to_level() throws SQLException {
        assertThat(reads(session -> assertThat(session.list(
                                dialect.sql(MySqlClaims.HEADS),
                                row -> row.text() + row.integer(),
                                "",
                                DueQueues.END,
                                600))
                        .isNotEmpty()))
                .isLessThan(2 * BATCH);
    }

    @Test
    void a_claim_walks_one_stretch_of_the_ready_index() throws SQLException {
        assertThat(reads(session -> {
                    List<Long> due = session.list(
                            dialect.sql(MySqlClaims.ANY_DUE.replace("#", "")),
                            SqlRow::number,
                            Params.of("queue", "default")
                                    .and("lane", 0)
                                    .and("priority", 2)
                                    .and("turn", "")
                                    .and("due", 0L)
                                    .and("id", 0L)
                                    .and("max", BATCH));
                    assertThat(due).hasSize(BATCH);
                    long[] ids =
                            due.stream().mapToLong(Long::longValue).sorted().toArray();
                    assertThat(session.list(dialect.sql(MySqlClaims.LOCK), SqlRow::number, ids, "default"))
                            .hasSize(BATCH);
                }))
                .isLessThan(6 * BATCH);
    }

    @Test
    void a_settle_walks_the_primary_keys() throws SQLException {
        String rows = JsonRows.of(claim.jobs(), job -> new Object[] {job.id().value(), claim.token(), 1, null});
        assertThat(reads(session -> {
                    assertThat(session.list(dialect.sql(MySqlSettlements.LOCK_JOBS), SqlRow::number, (Object) held()))
                            .hasSize(BATCH);
                    assertThat(session.update(
                                    dialect.sql(MySqlSettlements.SUCCEED),
                                    Params.of("now", 1L).and("rows", rows)))
                            .isEqualTo(BATCH);
                    assertThat(session.update(dialect.sql(MySqlDialect.REMOVE), (Object) held()))
                            .isEqualTo(BATCH);
                }))
                .isLessThan(8 * BATCH);
    }

    @Test
    void putting_back_walks_the_primary_key() throws SQLException {
        String rows = JsonRows.of(claim.jobs(), MySqlPlanTest::waiting);
        assertThat(reads(session ->
                        assertThat(session.update(MySqlSettlements.WAIT, rows)).isEqualTo(BATCH)))
                .isLessThan(8 * BATCH);
    }

    private static Object[] waiting(Job job) {
        return new Object[] {
            job.id().value(), claim.token(), 1, 0, 0, 0, 1, "E", "m", "f", 5_000_000_000_000_000L, "RETRY", 1, null
        };
    }

    @Test
    void unparking_walks_the_index_of_parked_jobs() throws SQLException {
        assertThat(reads(session -> {
                    List<Long> ids =
                            session.list(dialect.sql(ParkedJobs.EARLIEST), SqlRow::number, "breaker/provider-1", 100);
                    assertThat(session.update(dialect.sql(ControlTable.UNPARK), (Object)
                                    ids.stream().mapToLong(Long::longValue).toArray()))
                            .isEqualTo(100);
                }))
                .isLessThan(1_000);
    }

    @Test
    void names_are_found_by_jumps() throws SQLException {
        assertThat(reads(session -> {
                    assertThat(ControlTable.parkedBy(session)).hasSize(2);
                    assertThat(QueueTable.live(session)).containsExactly("default");
                }))
                .isLessThan(100);
    }

    @Test
    void turns_are_found_by_jumps() throws SQLException {
        assertThat(reads(session -> {
                    assertThat(session.list(
                                    dialect.sql(MySqlClaims.NEXT_OF_ANY),
                                    SqlRow::text,
                                    Params.of("queue", "default")
                                            .and("lane", 0)
                                            .and("priority", 2)
                                            .and("from", "")))
                            .containsExactly("");
                    assertThat(session.list(dialect.sql(JobUpkeep.LATE), SqlRow::number, Long.MAX_VALUE, 100))
                            .isEmpty();
                    assertThat(session.list(dialect.sql(JobUpkeep.DUE_RETRIES), SqlRow::number, "default", 0L, 100))
                            .isEmpty();
                    assertThat(session.list(dialect.sql(JobUpkeep.TURNED_RETRIES), SqlRow::number, "default", 0L, 100))
                            .isEmpty();
                }))
                .isLessThan(2 * BATCH);
    }

    @Test
    void a_queue_position_stops_at_the_limit() throws SQLException {
        assertThat(reads(session -> {
                    session.one(dialect.sql(QueuePositions.DUE), SqlRow::number, position(Long.MAX_VALUE));
                    session.one(dialect.sql(QueuePositions.EARLIER), SqlRow::number, position(60_000L));
                }))
                .isLessThan(12_000);
    }

    private static Params position(long due) {
        return Params.of("queue", "default")
                .and("lane", 0)
                .and("priority", 1)
                .and("turn", "")
                .and("due", due)
                .and("id", 60_000L)
                .and("max", 1_001);
    }

    @ParameterizedTest
    @EnumSource
    void a_page_of_a_state_reads_little_more_than_it_shows(JobState state) throws SQLException {
        JobQuery query = JobQuery.all().state(state).limit(50);
        JobQueries.Statement statement = JobQueries.statement(dialect, query, dialect.shown(query.states(), false), 0);
        assertThat(reads(session -> session.list(statement.sql(), SqlRow::number, statement.params())))
                .isLessThan(5 * BATCH);
    }
}
