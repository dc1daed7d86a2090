// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

class PostgresServerTest {

    @Test
    void it_is_the_postgresql_of_the_pinned_binaries() throws SQLException {
        DataSource database = PostgresServer.shared().freshDatabase();

        assertThat(query(database, "show server_version")).isEqualTo("18.6");
        assertThat(query(database, "show listen_addresses")).isEqualTo("127.0.0.1");
        assertThat(query(database, "show fsync")).isEqualTo("off");
    }

    @Test
    void fresh_databases_do_not_see_each_other() throws SQLException {
        DataSource first = PostgresServer.shared().freshDatabase();
        DataSource second = PostgresServer.shared().freshDatabase();

        execute(first, "create table note (text varchar)");

        assertThat(query(first, "select count(*) from pg_tables where tablename = 'note'"))
                .isEqualTo("1");
        assertThat(query(second, "select count(*) from pg_tables where tablename = 'note'"))
                .isEqualTo("0");
    }

    @Test
    void another_process_can_connect() throws Exception {
        String url = PostgresServer.shared().freshDatabaseUrl();

        Process other = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        OtherProcess.class.getName(),
                        url)
                .inheritIO()
                .start();

        assertThat(other.waitFor(300, TimeUnit.SECONDS)).isTrue();
        assertThat(other.exitValue()).isZero();
        try (Connection connection = DriverManager.getConnection(url)) {
            assertThat(query(connection, "select text from note")).isEqualTo("from another process");
        }
    }

    @Test
    void the_shared_server_cannot_be_stopped() {
        PostgresServer shared = PostgresServer.shared();

        assertThatThrownBy(shared::stop).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(shared::kill).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(shared::close).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void a_server_of_ones_own_comes_back_with_its_data_after_a_stop_and_after_a_kill() throws SQLException {
        try (PostgresServer server = PostgresServer.startDurable()) {
            int port = server.port();
            DataSource database = server.freshDatabase();
            assertThat(query(database, "show fsync")).isEqualTo("on");
            execute(database, "create table note (text varchar)");
            execute(database, "insert into note values ('kept')");

            server.stop();
            assertThatThrownBy(database::getConnection).isInstanceOf(SQLException.class);
            server.restart();
            assertThat(query(database, "select text from note")).isEqualTo("kept");

            execute(database, "update note set text = 'kept at once'");
            server.stopImmediately();
            assertThatThrownBy(database::getConnection).isInstanceOf(SQLException.class);
            server.restart();
            assertThat(query(database, "select text from note")).isEqualTo("kept at once");

            execute(database, "update note set text = 'kept again'");
            server.kill();
            assertThatThrownBy(database::getConnection).isInstanceOf(SQLException.class);
            server.restart();
            assertThat(query(database, "select text from note")).isEqualTo("kept again");
            assertThat(server.port()).isEqualTo(port);
        }
    }

    @Test
    void a_standby_has_what_was_committed_and_takes_over() throws SQLException {
        try (PostgresServer primary = PostgresServer.startDurable();
                PostgresServer standby = primary.startStandby()) {
            primary.commitWithStandby();
            DataSource database = primary.freshDatabase();
            execute(database, "create table note (text varchar)");
            execute(database, "insert into note values ('kept')");
            primary.kill();
            String url = "jdbc:postgresql://127.0.0.1:" + primary.port() + ",127.0.0.1:" + standby.port()
                    + "/test_1?user=postgres&targetServerType=primary";
            assertThatThrownBy(() -> DriverManager.getConnection(url)).isInstanceOf(SQLException.class);

            standby.promote();
            try (Connection connection = DriverManager.getConnection(url);
                    Statement statement = connection.createStatement()) {
                statement.execute("insert into note values ('new')");
                assertThat(query(connection, "select string_agg(text, ' ' order by text) from note"))
                        .isEqualTo("kept new");
            }

            primary.follow(standby);
            assertThat(query(database, "select count(*) from note")).isEqualTo("2");
            assertThatThrownBy(() -> execute(database, "insert into note values ('no')"))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("25006"));
        }
    }

    @Test
    void a_server_that_does_not_start_says_why() {
        Map<String, String> wrong = Map.of("no_such_setting", "1");

        String reason = "unrecognized configuration parameter \"no_such_setting\"";
        int seconds = 2;
        Throwable refusal = startWith(wrong, seconds);
        // On a slow machine it takes longer until the server says so.
        while (seconds < 200 && !String.valueOf(refusal).contains(reason)) {
            seconds *= 3;
            refusal = startWith(wrong, seconds);
        }
        assertThat(refusal)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("PostgreSQL did not start")
                .hasMessageContaining(reason);
    }

    private static Throwable startWith(Map<String, String> settings, int seconds) {
        return catchThrowable(() -> PostgresServer.start(settings, false, Duration.ofSeconds(seconds)));
    }

    private static void execute(DataSource database, String sql) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String query(DataSource database, String sql) throws SQLException {
        try (Connection connection = database.getConnection()) {
            return query(connection, sql);
        }
    }

    private static String query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            result.next();
            return result.getString(1);
        }
    }

    /** Started by {@link #another_process_can_connect()}. */
    static final class OtherProcess {

        public static void main(String[] args) throws SQLException {
            try (Connection connection = DriverManager.getConnection(args[0]);
                    Statement statement = connection.createStatement()) {
                statement.execute("create table note (text varchar)");
                statement.execute("insert into note values ('from another process')");
            }
        }
    }
}
