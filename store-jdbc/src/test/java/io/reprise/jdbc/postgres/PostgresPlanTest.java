// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.Postgres;
import io.reprise.jdbc.jobs.JobQueries;
import io.reprise.jdbc.rows.ControlTable;
import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.ParkedJobs;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.ShownColumns;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.store.ClaimRequest;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How PostgreSQL reaches the rows with 100,000 jobs waiting, as many scheduled for later and as many parked. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PostgresPlanTest {

    private static final Dialect DIALECT = new PostgresDialect();

    private static final String EXPLAIN = "explain (analyze, costs off, timing off, summary off) ";

    private final Postgres postgres = new Postgres();

    /** What PostgreSQL knows before there are jobs. */
    void before(Postgres database) {}

    /** What it knows when there are. */
    void after(Postgres database) {
        database.execute("vacuum analyze reprise_job");
    }

    @BeforeAll
    void fill() {
        before(postgres);
        postgres.execute("""
                insert into reprise_job (id, due_at, first_due_at, created_at, lane, priority, queue, type, wait_reason, payload)
                select nextval('reprise_job_id'), due, due, reprise_now(), n % 2, n % 3, 'default', 'work', 'NEW', '{}'
                  from (select n, reprise_now() + case when n <= 100000 then -n else 3600000000 + n end as due
                          from generate_series(1, 200000) n) x
                """);
        postgres.execute("""
                insert into reprise_job (
                  id, due_at, first_due_at, created_at, lane, priority, queue, type, wait_reason, payload, parked_by)
                select nextval('reprise_job_id'), reprise_now() - n, reprise_now() - n, reprise_now(), 3 + n % 2, n % 3,
                       'default', 'work', 'BREAKER', '{}', 'breaker/provider-' || n % 2
                  from generate_series(1, 100000) n
                """);
        after(postgres);
        postgres.store()
                .claim(new ClaimRequest(
                        "worker",
                        Duration.ofHours(1),
                        500,
                        List.of(new ClaimRequest.Demand("default", 500)),
                        0.2,
                        false));
    }

    @AfterAll
    void close() {
        postgres.close();
    }

    private String plan(String sql, Object... args) throws SQLException {
        return plan(session -> session.list(EXPLAIN + sql, SqlRow::text, args));
    }

    private String plan(String sql, Params params) throws SQLException {
        return plan(session -> session.list(EXPLAIN + sql, SqlRow::text, params));
    }

    private String plan(Database.Work<List<String>> explain) throws SQLException {
        try (Connection connection = postgres.connection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute(PostgresDatabase.settings(Duration.ofMinutes(1)));
            Session session = new Session(connection, DIALECT, 30, Session.Use.POOLED);
            String plan = String.join("\n", explain.on(session));
            connection.rollback();
            return plan;
        }
    }

    private static void readsThroughIndexes(String plan) {
        readsThroughIndexes(plan, 2_000);
    }

    private static void readsThroughIndexes(String plan, int most) {
        assertThat(plan).doesNotContain("Seq Scan on reprise_job").doesNotContain("Bitmap Heap Scan on reprise_job");
        assertThat(plan.lines().filter(line -> line.contains("rows=") && rows(line) > most))
                .as("steps that touch many rows in\n" + plan)
                .isEmpty();
    }

    private static double rows(String line) {
        return Double.parseDouble(line.replaceAll(".*rows=([0-9.]+).*", "$1"));
    }

    @Test
    void a_claim_walks_the_ready_index() throws SQLException {
        String plan = plan(PostgresClaims.claimSql(DIALECT, 500), claimParams());
        assertThat(plan).contains("reprise_job_ready").contains("hashed SubPlan");
        readsThroughIndexes(plan);
    }

    @Test
    void a_claim_that_goes_on_steps_over_nothing() throws SQLException {
        String last = postgres.query("select due_at || ' ' || id from reprise_job where lane = 0 and priority = 2"
                        + " and due_at <= reprise_now() order by due_at, id offset 5000 limit 1")
                .get(0);
        String plan = plan(
                PostgresClaims.goOnSql(DIALECT, 500),
                claimParams()
                        .and("lanes", new long[] {0})
                        .and("priorities", new long[] {2})
                        .and("dues", new long[] {Long.parseLong(last.replaceAll(" .*", ""))})
                        .and("ids", new long[] {Long.parseLong(last.replaceAll(".* ", ""))}));
        assertThat(plan).contains("reprise_job_ready").contains("ROW(").doesNotContain("Rows Removed by Filter: 5");
        readsThroughIndexes(plan);
    }

    private static Params claimParams() {
        return Params.of("queue", "default")
                .and("jobs", 500)
                .and("retries", 100)
                .and("worker", "worker")
                .and("lease_us", 60_000_000L)
                .and("remote", 0)
                .and("floor", 0L);
    }

    @Test
    void an_idle_probe_walks_the_ready_index() throws SQLException {
        String plan = plan(PostgresClaims.PROBE, Params.of("queues", new String[] {"default", "other"}));
        assertThat(plan).contains("reprise_job_ready");
        readsThroughIndexes(plan);
    }

    @Test
    void unparking_walks_the_index_of_parked_jobs() throws SQLException {
        String plan = plan(DIALECT.sql(ParkedJobs.EARLIEST), "breaker/provider-1", 100);
        assertThat(plan).contains("reprise_job_parked");
        readsThroughIndexes(plan);
    }

    @Test
    void names_of_what_parks_jobs_are_found_by_jumps() throws SQLException {
        String plan = plan(ControlTable.NAMES);
        assertThat(plan).contains("reprise_job_parked");
        readsThroughIndexes(plan);
    }

    @ParameterizedTest
    @EnumSource
    void a_page_of_a_state_asks_the_leases_about_few_jobs(JobState state) throws SQLException {
        JobQuery query = JobQuery.all().state(state).limit(50);
        JobQueries.Statement statement = JobQueries.statement(DIALECT, query, DIALECT.shown(query.states(), false), 0);
        String plan = plan(statement.sql(), statement.params());
        readsThroughIndexes(plan);
        assertThat(plan.lines()
                        .filter(line -> line.contains("reprise_lease") && line.contains("loops="))
                        .mapToLong(line -> Long.parseLong(line.replaceAll(".*loops=([0-9]+).*", "$1"))))
                .as("looks at the leases in\n" + plan)
                .allMatch(loops -> loops <= 51);
    }

    @ParameterizedTest
    @EnumSource
    void how_far_a_page_looks_is_found_by_an_index(JobState state) throws SQLException {
        for (JobQuery query : List.of(
                JobQuery.all().state(state).type("work"),
                JobQuery.all().state(state).queue("default"),
                JobQuery.all().state(state).batch("import"),
                JobQuery.all().state(state).fingerprint("f"))) {
            List<ShownColumns> shown = DIALECT.shown(query.states(), false);
            JobQueries.Statement statement = JobQueries.floorStatement(DIALECT, query, shown);
            readsThroughIndexes(plan(statement.sql(), statement.params()), JobQuery.MAX_LOOKS);
            statement = JobQueries.statement(DIALECT, query, shown, floor(statement));
            readsThroughIndexes(plan(statement.sql(), statement.params()), JobQuery.MAX_LOOKS);
        }
    }

    private long floor(JobQueries.Statement statement) throws SQLException {
        try (Connection connection = postgres.connection()) {
            return new Session(connection, DIALECT, 30, Session.Use.POOLED)
                    .one(statement.sql(), SqlRow::number, statement.params());
        }
    }

    @Test
    void a_settle_walks_the_primary_key() throws SQLException {
        long token = Long.parseLong(
                postgres.query("select id from reprise_lease limit 1").get(0));
        Long[] ids = postgres.query("select unnest(ids) from reprise_lease limit 500").stream()
                .map(Long::valueOf)
                .sorted()
                .toArray(Long[]::new);
        Long[] tokens = new Long[ids.length];
        java.util.Arrays.fill(tokens, token);
        String plan = plan(
                DIALECT.sql(PostgresSettlements.SUCCEED),
                Params.of("ids", ids)
                        .and("tokens", tokens)
                        .and("ran", tokens)
                        .and("results", new String[0])
                        .and("closing", new long[] {token})
                        .and("leases", new long[] {token}));
        assertThat(plan).contains("reprise_job_pkey");
        readsThroughIndexes(plan);
    }
}
