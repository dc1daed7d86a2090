// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.testkit.MariaDbServer;
import io.reprise.testkit.PostgresServer;
import io.reprise.testkit.history.HistoryEvent;
import io.reprise.testkit.history.HistoryEvent.Kind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Workers killed as {@code kill -9} does, again and again and at any moment; and workers that were only frozen. */
@Timeout(1_800)
class KillStormTest {

    private static final String FILE = "jobs.db";
    private static final int WORKERS = 4;

    /** Of four workers, in the long run only: it takes a lease and a half each. */
    private static final int FREEZES = FaultRun.times(0, 1);

    private static final int LONGEST_LIFE = 20_000;

    @TempDir
    private Path directory;

    private String url(String database) {
        return switch (database) {
            case "sqlite" -> "sqlite:" + directory.resolve(FILE);
            case "mariadb" -> MariaDbServer.shared().freshDatabaseUrl();
            default -> PostgresServer.shared().freshDatabaseUrl();
        };
    }

    /** A worker and how many bytes of history it is granted. In the long run some are frozen for longer than a lease first. */
    private static final class Victim {
        private final FaultRun.Worker worker;
        private final int life;
        private final int freezeAt;
        private long frozenAt;
        private boolean frozen;
        private boolean thawed;

        Victim(FaultRun.Worker worker, Random random) {
            this.worker = worker;
            this.life = 1 + random.nextInt(LONGEST_LIFE);
            this.freezeAt = random.nextInt(4) < FREEZES ? random.nextInt(life) : Integer.MAX_VALUE;
        }

        /** Freezes, thaws or kills it, if it is time to. Returns whether it is dead. */
        boolean suffer() {
            assertThat(worker.process().isAlive())
                    .as("a worker died by itself: %s", worker.process().logTail())
                    .isTrue();
            if (frozen) {
                // A frozen writer of SQLite may keep everybody waiting, so progress of the others is no sign.
                if (System.nanoTime() - frozenAt > Work.LEASE.toNanos() * 3 / 2) {
                    worker.process().resume();
                    frozen = false;
                    thawed = true;
                }
            } else if (!thawed && worker.historySize() >= freezeAt) {
                worker.process().pause();
                frozenAt = System.nanoTime();
                frozen = true;
            } else if (worker.historySize() >= life) {
                worker.process().kill();
                return true;
            }
            return false;
        }
    }

    @ParameterizedTest
    @CsvSource({"sqlite, 20", "postgresql, 20", "mariadb, 10"})
    void nothing_is_lost_or_done_twice_however_many_workers_are_killed(String database, int usually) {
        Random random = new Random(1);
        int wanted = FaultRun.times(usually, 150);
        try (FaultRun run = new FaultRun(directory, url(database))) {
            run.load().start();
            List<Victim> victims = new ArrayList<>();
            int kills = 0;
            int freezes = 0;
            while (kills < wanted) {
                while (victims.size() < WORKERS) {
                    victims.add(new Victim(run.startWorker(), random));
                }
                for (Victim victim : List.copyOf(victims)) {
                    if (victim.suffer()) {
                        victims.remove(victim);
                        kills++;
                        freezes += victim.thawed ? 1 : 0;
                    }
                }
                LockSupport.parkNanos(Duration.ofMillis(2).toNanos());
            }
            victims.stream()
                    .filter(victim -> victim.frozen)
                    .forEach(victim -> victim.worker.process().resume());
            run.startWorker();
            run.drainAndCheck(kills + " kills, " + freezes + " freezes on " + database);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgresql", "mariadb"})
    void what_a_frozen_worker_did_is_refused_after_it_was_overtaken(String database) {
        try (FaultRun run = new FaultRun(directory, url(database))) {
            int jobs = 4;
            run.load().enqueue(Work.HELD, jobs);
            FaultRun.Worker frozen = run.startWorker();
            run.until("jobs to run", () -> frozen.count(Kind.STARTED) == jobs);
            freeze(frozen, run);
            FaultRun.Worker heir = run.startWorker();
            run.until("the heir to run them", () -> heir.count(Kind.STARTED) == jobs);
            run.release();
            frozen.process().resume();
            run.until("both to end them", () -> frozen.count(Kind.ENDED) == jobs && heir.count(Kind.ENDED) == jobs);
            run.until("the outcomes of the heir", () -> accepted(heir) == jobs);
            // The frozen one has come to itself: with the other dead, it does the work.
            heir.process().kill();
            run.load().enqueue(Work.mixture());
            frozen.awaitMore(Kind.ACCEPTED, 20);
            run.drainAndCheck("A frozen worker on " + database);
            List<Long> tokens = frozen.events().stream()
                    .filter(event -> event.kind() == Kind.STARTED)
                    .limit(jobs)
                    .map(HistoryEvent::token)
                    .toList();
            assertThat(frozen.events())
                    .filteredOn(event -> event.kind() == Kind.ACCEPTED)
                    .noneMatch(event -> tokens.contains(event.token()));
        }
    }

    /** Not while it writes to SQLite: who stands still then keeps everybody from writing. */
    private void freeze(FaultRun.Worker worker, FaultRun run) {
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

    private static long accepted(FaultRun.Worker worker) {
        return worker.events().stream()
                .filter(event -> event.kind() == Kind.ACCEPTED && "Succeed".equals(event.detail("next")))
                .count();
    }
}
