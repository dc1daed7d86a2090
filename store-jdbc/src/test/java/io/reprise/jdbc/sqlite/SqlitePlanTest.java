// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sqlite;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.Sqlite;
import io.reprise.jdbc.jobs.JobQueries;
import io.reprise.jdbc.jobs.JobUpkeep;
import io.reprise.jdbc.rows.ControlTable;
import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.ParkedJobs;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** How SQLite reaches the rows: never by all jobs that ever were. */
class SqlitePlanTest {

    private static final Dialect DIALECT = new SqliteDialect();

    @TempDir
    Path directory;

    private String plan(String sql, Object... values) throws SQLException {
        return plan(session -> session.list("explain query plan " + sql, SqlitePlanTest::step, values));
    }

    private String plan(String sql, Params params) throws SQLException {
        return plan(session -> session.list("explain query plan " + sql, SqlitePlanTest::step, params));
    }

    private static String step(SqlRow row) throws SQLException {
        row.number();
        row.number();
        row.number();
        return row.text();
    }

    private String plan(Database.Work<List<String>> explain) throws SQLException {
        Path file = directory.resolve("jobs.db");
        try (JdbcJobStore store = JdbcJobStore.sqlite(file)) {
            store.prepare();
        }
        try (Connection connection = Sqlite.connection(file)) {
            Session session = new Session(connection, DIALECT, 0, Session.Use.POOLED);
            return String.join("\n", explain.on(session));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "FAILED, j USING INDEX reprise_job_failed",
        "CANCELLED, j USING INDEX reprise_job_cancelled",
        "PENDING, SEARCH j USING INTEGER PRIMARY KEY (rowid=?)",
        "RUNNING, SEARCH j USING INTEGER PRIMARY KEY (rowid=?)"
    })
    void a_page_of_a_state_is_found_by_an_index(JobState state, String step) throws SQLException {
        JobQueries.Statement statement = statement(JobQuery.all().state(state).limit(50));
        String plan = plan(statement.sql(), statement.params());
        assertThat(plan).contains(step);
        assertThat(plan.lines()).as(plan).noneMatch(line -> line.matches("SCAN (j|reprise_job)"));
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"PENDING", "RUNNING", "SUCCEEDED"})
    void old_jobs_of_a_state_are_found_in_order_by_an_index(JobState state) throws SQLException {
        assertThat(plan(JobUpkeep.oldSql(DIALECT, state), 1L, 10))
                .contains("INDEX reprise_job_" + state.name().toLowerCase(Locale.ROOT)
                        + "_at (finished_at>? AND finished_at<?)")
                .doesNotContain("TEMP B-TREE");
    }

    @ParameterizedTest
    @CsvSource({
        "PENDING, COVERING INDEX reprise_job_ready",
        "SUCCEEDED, SCAN reprise_job",
        "FAILED, COVERING INDEX reprise_job_failed_error (fingerprint>? AND fingerprint<?)",
        "CANCELLED, COVERING INDEX reprise_job_cancelled"
    })
    void how_far_a_page_looks_is_found_by_an_index(JobState state, String step) throws SQLException {
        JobQuery query = JobQuery.all().state(state).fingerprint("f");
        JobQueries.Statement statement = JobQueries.floorStatement(DIALECT, query, DIALECT.shown(query.states(), true));
        assertThat(plan(statement.sql(), statement.params())).contains(step);
    }

    @Test
    void parked_jobs_are_found_in_order_by_an_index() throws SQLException {
        assertThat(plan(DIALECT.sql(ParkedJobs.EARLIEST), "breaker/a", 10))
                .contains("SEARCH reprise_job USING INDEX reprise_job_parked (parked_by=? AND due_at>?)")
                .doesNotContain("TEMP B-TREE");
        assertThat(plan(ControlTable.NAMES).lines())
                .filteredOn(line -> line.contains("reprise_job"))
                .allMatch(line -> line.contains("COVERING INDEX reprise_job_parked"));
    }

    private static Params level(int max) {
        return Params.of("queue", "default")
                .and("lane", 0)
                .and("priority", 0)
                .and("turn", "")
                .and("from", "")
                .and("now", 1L)
                .and("max", max);
    }

    private static JobQueries.Statement statement(JobQuery query) {
        return JobQueries.statement(DIALECT, query, DIALECT.shown(query.states(), true), 0);
    }

    @Test
    void the_waiting_jobs_are_collected_from_a_partial_index() throws SQLException {
        JobQueries.Statement statement = statement(JobQuery.all().state(JobState.PENDING));
        assertThat(plan(statement.sql(), statement.params())).contains("SCAN reprise_job USING COVERING INDEX");
    }

    @Test
    void a_claim_reads_due_jobs_of_one_level_in_order_by_the_ready_index() throws SQLException {
        assertThat(plan(SqliteClaims.ALL_DUE, level(500)))
                .contains("SEARCH j USING INDEX reprise_job_ready"
                        + " (queue=? AND lane=? AND priority=? AND turn=? AND due_at>? AND due_at<?)")
                .doesNotContain("TEMP B-TREE FOR ORDER BY")
                .doesNotContain("SCAN j");
    }

    @Test
    void a_look_for_work_reads_one_job_by_the_ready_index() throws SQLException {
        assertThat(plan(SqliteClaims.ANY_DUE, level(1)))
                .contains("reprise_job_ready (queue=? AND lane=? AND priority=? AND turn=? AND due_at>? AND due_at<?)")
                .doesNotContain("TEMP B-TREE FOR ORDER BY");
        assertThat(plan(SqliteClaims.LEVEL, "default", 0, 9))
                .contains("COVERING INDEX reprise_job_ready (queue=? AND lane=? AND priority<?)")
                .doesNotContain("TEMP B-TREE");
    }

    @Test
    void turns_are_found_by_jumps_through_the_ready_index() throws SQLException {
        assertThat(plan(SqliteClaims.NEXT_TURNS, level(10)).lines())
                .filteredOn(line -> line.contains(" j "))
                .isNotEmpty()
                .allMatch(line -> line.contains("reprise_job_ready (queue=? AND lane=? AND priority=? AND turn>?)"));
        assertThat(plan(DIALECT.sql(JobUpkeep.LATE), 1L, 10))
                .contains("INDEX reprise_job_late (due_at<?)")
                .doesNotContain("TEMP B-TREE FOR ORDER BY");
    }

    @Test
    void due_retries_are_found_by_jumps_through_the_ready_index() throws SQLException {
        assertThat(plan(DIALECT.sql(JobUpkeep.DUE_RETRIES), "default", 1L, 10))
                .contains("INDEX reprise_job_ready (queue=? AND lane=? AND priority=? AND turn=? AND due_at");
        assertThat(plan(DIALECT.sql(JobUpkeep.TURNED_RETRIES), "default", 1L, 10))
                .contains("INDEX reprise_job_ready (queue=? AND lane=? AND priority=? AND turn>?");
    }

    @Test
    void a_settle_finds_its_jobs_by_the_primary_key() throws SQLException {
        assertThat(plan(
                        SqliteSettlements.SUCCEED_ALL,
                        Params.of("now", 1L)
                                .and("token", 1L)
                                .and("worker", "worker")
                                .and("runs", "{\"1\":5}")))
                .contains("SEARCH j USING INTEGER PRIMARY KEY (rowid=?)")
                .doesNotContain("SCAN j");
        assertThat(plan(
                        SqliteSettlements.SUCCEEDED,
                        Params.of("runs", "{\"1\":5}").and("token", 1L)))
                .contains("SEARCH j USING INTEGER PRIMARY KEY (rowid=?)")
                .doesNotContain("SCAN j");
    }
}
