// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.testkit.Slow;
import io.reprise.testkit.faults.BadNetwork;
import io.reprise.testkit.faults.FaultFleet;
import io.reprise.testkit.faults.TcpProxy;
import io.reprise.testkit.faults.Work;
import io.reprise.testkit.servers.MariaDbServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A MariaDB that goes away and comes back, connections that end or say nothing, and a table that others lock. */
@Timeout(1_800)
class MariaDbFaultsTest {

    private static final String OTHERS = """
            select id
              from information_schema.processlist
             where db = database() and id <> connection_id()
            """;

    private static final int NO_SUCH_THREAD = 1094;

    private static MariaDbServer server;

    @TempDir
    private Path directory;

    private String url;

    @BeforeAll
    static void start() {
        server = MariaDbServer.start(Map.of("innodb-flush-log-at-trx-commit", "1", "innodb-doublewrite", "1"));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void createDatabase() {
        url = server.freshDatabaseUrl();
    }

    private String through(TcpProxy proxy) {
        return url.replace(":" + server.port() + "/", ":" + proxy.port() + "/");
    }

    @Test
    void the_server_is_stopped_and_killed_under_load() {
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
                server.kill();
                server.restart();
            }
            run.awaitProgress(20);
            run.drainAndCheck(2 * rounds + " restarts of MariaDB");
        }
    }

    @Slow
    @Test
    void all_connections_are_ended_by_the_server_again_and_again() throws SQLException {
        int times = FaultRun.times(8, 200);
        try (FaultRun run = new FaultRun(directory, url);
                Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            run.load().start();
            run.startWorker();
            run.startWorker();
            for (int i = 0; i < times; i++) {
                run.awaitProgress(5);
                endOthers(statement);
            }
            run.drainAndCheck(times + " times all connections to MariaDB killed");
        }
    }

    private static void endOthers(Statement statement) throws SQLException {
        List<Long> others = new ArrayList<>();
        try (ResultSet rows = statement.executeQuery(OTHERS)) {
            while (rows.next()) {
                others.add(rows.getLong(1));
            }
        }
        for (long other : others) {
            try {
                statement.execute("kill " + other);
            } catch (SQLException e) {
                assertThat(e.getErrorCode()).as(e.getMessage()).isEqualTo(NO_SUCH_THREAD);
            }
        }
    }

    @Slow
    @Test
    void a_worker_that_hears_nothing_more_harms_nobody_and_comes_back() {
        try (TcpProxy proxy = TcpProxy.before(server.port());
                FaultRun run = new FaultRun(directory, url)) {
            run.load().start();
            new BadNetwork(run, proxy, through(proxy)).deafen();
            run.drainAndCheck("A stalled network before MariaDB");
        }
    }

    @Slow
    @Test
    void answers_that_do_not_arrive_are_not_taken_for_failures() {
        int times = FaultRun.times(1, 5);
        try (TcpProxy proxy = TcpProxy.before(server.port());
                FaultRun run = new FaultRun(directory, url)) {
            run.load().start(Work::quickOnes);
            // Sooner than the store by itself gives up an answer.
            new BadNetwork(run, proxy, through(proxy) + "&socketTimeout=3000").keepAnswers(times);
            run.drainAndCheck(times + " times requests without answers before MariaDB");
        }
    }

    @Slow
    @Test
    void connections_break_in_the_middle_of_answers() {
        try (TcpProxy proxy = TcpProxy.before(server.port());
                FaultRun run = new FaultRun(directory, url)) {
            run.load().start();
            new BadNetwork(run, proxy, through(proxy)).breakAnswers(FaultRun.times(20, 600));
            run.drainAndCheck(proxy.broken() + " broken connections to MariaDB");
        }
    }

    @Slow
    @Test
    void a_lock_on_the_table_keeps_every_connection_of_the_pools_busy() throws SQLException {
        try (FaultRun run = new FaultRun(directory, url);
                Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            run.load().start();
            FaultFleet.Worker worker = run.startWorker();
            run.awaitProgress(20);
            statement.execute("lock tables reprise_job write");
            int unknown = run.load().unknown();
            long failed = worker.lostAnswers();
            run.until("calls to give up", () -> run.load().unknown() > unknown && worker.lostAnswers() > failed);
            statement.execute("unlock tables");
            run.awaitProgress(20);
            run.drainAndCheck("A locked table of MariaDB");
        }
    }
}
