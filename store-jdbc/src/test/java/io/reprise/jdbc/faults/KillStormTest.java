// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import io.reprise.testkit.Slow;
import io.reprise.testkit.TestRun;
import io.reprise.testkit.faults.FaultFleet;
import io.reprise.testkit.faults.KillStorm;
import io.reprise.testkit.faults.Overtaken;
import io.reprise.testkit.servers.MariaDbServer;
import io.reprise.testkit.servers.PostgresServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Workers killed as {@code kill -9} does, again and again and at any moment; and workers that were only frozen. */
@Timeout(1_800)
class KillStormTest {

    private static final String FILE = "jobs.db";

    @TempDir
    private Path directory;

    private String url(String database) {
        return switch (database) {
            case "sqlite" -> "sqlite:" + directory.resolve(FILE);
            case "mariadb" -> MariaDbServer.shared().freshDatabaseUrl();
            default -> PostgresServer.shared().freshDatabaseUrl();
        };
    }

    @Test
    void nothing_is_lost_or_done_twice_however_many_workers_are_killed() {
        storm("postgresql", TestRun.size(4, 10));
    }

    @Slow
    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "mariadb"})
    void nothing_is_lost_or_done_twice_on_other_databases_however_many_workers_are_killed(String database) {
        storm(database, 10);
    }

    private void storm(String database, int kills) {
        try (FaultRun run = new FaultRun(directory, url(database))) {
            run.load().start();
            String done = KillStorm.over(run, FaultRun.times(kills, 150));
            run.drainAndCheck(done + " on " + database);
        }
    }

    @Test
    void what_a_frozen_worker_did_is_refused_after_it_was_overtaken() {
        overtake("sqlite");
    }

    @Slow
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void what_a_frozen_worker_did_on_other_databases_is_refused_after_it_was_overtaken(String database) {
        overtake(database);
    }

    private void overtake(String database) {
        try (FaultRun run = new FaultRun(directory, url(database))) {
            Overtaken.in(run, worker -> freeze(worker, run), "A frozen worker on " + database);
        }
    }

    /** Not while it writes to SQLite: who stands still then keeps everybody from writing. */
    private void freeze(FaultFleet.Worker worker, FaultRun run) {
        run.until("a moment when nothing is written", () -> {
            worker.process().pause();
            if (isWritable()) {
                return true;
            }
            worker.process().resume();
            return false;
        });
    }

    private boolean isWritable() {
        Path file = directory.resolve(FILE);
        if (!Files.exists(file)) {
            return true;
        }
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file + "?busy_timeout=500");
                Statement statement = connection.createStatement()) {
            statement.execute("begin immediate");
            statement.execute("rollback");
            return true;
        } catch (SQLException e) {
            return false;
        }
    }
}
