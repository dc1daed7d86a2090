// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.job.JobId;
import io.reprise.testkit.servers.MariaDbServer;
import io.reprise.testkit.servers.PostgresServer;
import io.reprise.testkit.steps.KillEverywhere;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A worker that is killed anywhere repeats no step. PostgreSQL and SQLite have every statement in each run of all tests,
 * MariaDB every fourth one: the statements that write steps are the same.
 */
class StepKillTest {

    @TempDir
    Path directory;

    @Test
    void a_killed_worker_repeats_no_step_in_sqlite() throws SQLException {
        kill("jdbc:sqlite:" + directory.resolve("jobs.db"), 1);
    }

    @Test
    void a_killed_worker_repeats_no_step_in_postgresql() throws SQLException {
        kill(PostgresServer.shared().freshDatabaseUrl(), 1);
    }

    @Test
    void a_killed_worker_repeats_no_step_in_mariadb() throws SQLException {
        kill(MariaDbServer.shared().freshDatabaseUrl(), 4);
    }

    private void kill(String url, int stride) throws SQLException {
        JdbcJobStore store = JdbcJobStore.open(url);
        store.prepare();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("create table effect (job bigint not null, step varchar(20) not null)");
        }
        new KillEverywhere(JdbcOrderWorker.class, url, directory).run(store, stride, job -> effects(url, job));
    }

    private static List<String> effects(String url, JobId job) {
        List<String> effects = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select step from effect where job = " + job.value())) {
            while (rows.next()) {
                effects.add(rows.getString(1));
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return effects;
    }
}
