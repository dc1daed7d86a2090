// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.testkit.Slow;
import io.reprise.testkit.faults.BadNetwork;
import io.reprise.testkit.faults.FaultFleet;
import io.reprise.testkit.faults.TcpProxy;
import io.reprise.testkit.faults.Work;
import io.reprise.testkit.servers.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server that goes away and comes back, connections that end or say nothing, and others who take what workers need. */
@Timeout(1_800)
class PostgresFaultsTest {

    private static final String CUT_ALL = """
            select pg_terminate_backend(pid)
              from pg_stat_activity
             where datname = current_database() and pid <> pg_backend_pid()
            """;

    private static PostgresServer server;

    @TempDir
    private Path directory;

    private String url;

    @BeforeAll
    static void start() {
        server = PostgresServer.start(
                Map.of("fsync", "on", "synchronous_commit", "on", "full_page_writes", "on", "max_connections", "40"));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void createDatabase() {
        url = server.freshDatabaseUrl();
    }

    private Connection connect() throws SQLException {
        return DriverManager.getConnection(url);
    }

    private String through(TcpProxy proxy) {
        return url.replace(":" + server.port() + "/", ":" + proxy.port() + "/");
    }

    @Test
    void the_server_is_stopped_aborted_and_killed_under_load() {
        int rounds = FaultRun.times(1, 10);
        try (FaultRun run = new FaultRun(directory, url)) {
            run.load().start();
            run.startWorker();
            run.startWorker();
            for (int i = 0; i < rounds; i++) {
                run.awaitProgress(20);
                server.stop();
                server.restart();
                run.awaitProgress(20);
                server.stopImmediately();
                server.restart();
                run.awaitProgress(20);
                server.kill();
                server.restart();
            }
            run.awaitProgress(20);
            run.drainAndCheck(3 * rounds + " restarts of the server");
        }
    }

    @Slow
    @Test
    void all_connections_are_ended_by_the_server_again_and_again() throws SQLException {
        int times = FaultRun.times(15, 200);
        try (FaultRun run = new FaultRun(directory, url);
                Connection connection = connect();
                Statement statement = connection.createStatement()) {
            run.load().start();
            run.startWorker();
            run.startWorker();
            for (int i = 0; i < times; i++) {
                run.awaitProgress(5);
                statement.execute(CUT_ALL);
            }
            run.drainAndCheck(times + " times all backends terminated");
        }
    }

    @Slow
    @Test
    void a_worker_that_hears_nothing_more_harms_nobody_and_comes_back() {
        try (TcpProxy proxy = TcpProxy.before(server.port());
                FaultRun run = new FaultRun(directory, url)) {
            run.load().start();
            new BadNetwork(run, proxy, through(proxy)).deafen();
            run.drainAndCheck("A stalled network");
        }
    }

    @Test
    void answers_that_do_not_arrive_are_not_taken_for_failures() {
        int times = FaultRun.times(1, 5);
        try (TcpProxy proxy = TcpProxy.before(server.port());
                FaultRun run = new FaultRun(directory, url)) {
            run.load().start(Work::quickOnes);
            // Sooner than the store by itself gives up an answer.
            new BadNetwork(run, proxy, through(proxy) + "&socketTimeout=3").keepAnswers(times);
            run.drainAndCheck(times + " times requests without answers");
        }
    }

    @Slow
    @Test
    void connections_break_in_the_middle_of_answers() {
        try (TcpProxy proxy = TcpProxy.before(server.port());
                FaultRun run = new FaultRun(directory, url)) {
            run.load().start();
            new BadNetwork(run, proxy, through(proxy)).breakAnswers(FaultRun.times(40, 600));
            run.drainAndCheck(proxy.broken() + " broken connections");
        }
    }

    @Slow
    @Test
    void others_take_every_connection_the_server_has() throws SQLException {
        Deque<Connection> taken = new ArrayDeque<>();
        try (FaultRun run = new FaultRun(directory, url);
                Connection connection = connect();
                Statement statement = connection.createStatement()) {
            run.load().start();
            run.startWorker();
            run.startWorker();
            run.awaitProgress(20);
            int unknown = run.load().unknown();
            // Until everybody is out and the door is shut.
            run.until("a refused enqueue", () -> {
                takeAll(taken);
                cutOthers(statement, taken);
                return run.load().unknown() > unknown;
            });
            for (Connection one : taken) {
                one.close();
            }
            run.awaitProgress(20);
            run.drainAndCheck("No free connection");
        }
    }

    private void takeAll(Deque<Connection> taken) {
        try {
            while (true) {
                Connection connection = connect();
                connection.setClientInfo("ApplicationName", "greedy");
                taken.add(connection);
            }
        } catch (SQLException e) {
            assertThat(e.getSQLState()).as(e.getMessage()).isEqualTo("53300");
        }
    }

    private static void cutOthers(Statement statement, Deque<Connection> taken) {
        try {
            statement.execute(CUT_ALL + " and application_name <> 'greedy'");
        } catch (SQLException e) {
            throw new AssertionError(taken.size() + " taken", e);
        }
    }

    @Slow
    @Test
    void a_lock_on_the_table_keeps_every_connection_of_the_pools_busy() throws SQLException {
        try (FaultRun run = new FaultRun(directory, url);
                Connection connection = connect();
                Statement statement = connection.createStatement()) {
            run.load().start();
            FaultFleet.Worker worker = run.startWorker();
            run.awaitProgress(20);
            connection.setAutoCommit(false);
            statement.execute("lock table reprise_job in access exclusive mode");
            int unknown = run.load().unknown();
            long failed = worker.lostAnswers();
            run.until("calls to give up", () -> run.load().unknown() > unknown && worker.lostAnswers() > failed);
            connection.rollback();
            run.awaitProgress(20);
            run.drainAndCheck("A locked table");
        }
    }

    @Slow
    @Test
    void a_transaction_that_stays_open_holds_up_nothing() throws SQLException {
        try (FaultRun run = new FaultRun(directory, url);
                Connection connection = connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            statement.executeQuery("select count(*) from reprise_job").close();
            statement.execute("insert into effect (job) values (0)");
            run.load().start();
            run.startWorker();
            run.startWorker();
            run.awaitProgress(FaultRun.times(300, 20_000));
            run.drainAndCheck("A transaction open all along");
            connection.rollback();
        }
    }
}
