// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.reprise.history.HistoryEvent.Kind;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.JobQuery;
import io.reprise.store.StoreException;
import io.reprise.testkit.Slow;
import io.reprise.testkit.faults.FaultFleet;
import io.reprise.testkit.faults.SmallDisk;
import io.reprise.testkit.faults.Work;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A file that is locked, whose disk is full or read-only, or that is damaged. */
@Timeout(1_800)
class SqliteFaultsTest {

    @TempDir
    private Path directory;

    private Path disk() throws IOException {
        return Files.createDirectory(directory.resolve("disk"));
    }

    private static SmallDisk mount(Path directory, int kibibytes) {
        try {
            return SmallDisk.mount(directory, kibibytes);
        } catch (IllegalStateException e) {
            return Assumptions.abort("Mounting a file system needs the superuser: " + e.getMessage());
        }
    }

    @Slow
    @Test
    void another_process_locks_the_file_for_longer_than_anybody_waits() throws SQLException {
        Path file = directory.resolve("jobs.db");
        int times = FaultRun.times(2, 20);
        try (FaultRun run = new FaultRun(directory, "sqlite:" + file);
                Connection other = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = other.createStatement()) {
            run.load().start();
            FaultFleet.Worker worker = run.startWorker();
            run.startWorker();
            statement.execute("pragma busy_timeout = 600000");
            for (int i = 0; i < times; i++) {
                worker.confuse(() -> execute(statement, "begin immediate"), () -> execute(statement, "rollback"));
            }
            run.awaitProgress(20);
            run.drainAndCheck(times + " times a locked file");
        }
    }

    private static void execute(Statement statement, String sql) {
        try {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    @Test
    void a_full_disk_stops_the_work_and_loses_nothing() throws IOException {
        try (SmallDisk disk = mount(disk(), 8_192)) {
            Path file = disk.directory().resolve("jobs.db");
            int times = FaultRun.times(2, 10);
            try (FaultRun run = new FaultRun(directory, "sqlite:" + file)) {
                FaultFleet.Worker worker = run.startWorker();
                for (int i = 0; i < times; i++) {
                    long before = worker.count(Kind.ACCEPTED);
                    run.until("room", () -> run.load().enqueue(Work.mixture()));
                    worker.await(Kind.ACCEPTED, before + 5);
                    disk.fill();
                    // Who writes just then may keep it waiting for too long first.
                    run.until(
                            "the disk to be full",
                            () -> !run.load().enqueue(Work.mixture())
                                    && run.load().refusal().getMessage().contains("disk is full"));
                    assertThat(run.load().refusal().isTransient()).isTrue();
                    assertThat(worker.process().isAlive()).isTrue();
                    disk.free();
                    long full = worker.count(Kind.ACCEPTED);
                    run.until("room again", () -> run.load().enqueue(Work.mixture()));
                    worker.await(Kind.ACCEPTED, full + 5);
                }
                run.drainAndCheck(times + " times a full disk");
            }
        }
    }

    /** What SQLite refuses it has not done. */
    private static void enqueue(FaultRun run) {
        run.until("jobs to be stored", () -> run.load().enqueue(Work.mixture()));
    }

    @Test
    void a_read_only_disk_is_named_and_nothing_is_changed() throws IOException {
        try (SmallDisk disk = mount(disk(), 8_192)) {
            Path file = disk.directory().resolve("jobs.db");
            try (FaultRun run = new FaultRun(directory, "sqlite:" + file)) {
                enqueue(run);
            }
            byte[] before = Files.readAllBytes(file);
            disk.readOnly(true);
            try (JdbcJobStore store = JdbcJobStore.sqlite(file)) {
                StoreException refusal = catchThrowableOfType(StoreException.class, store::prepare);
                assertThat(refusal).hasMessageContaining("jobs.db").hasMessageContaining("writable");
                assertThat(refusal.isTransient()).isFalse();
            }
            assertThat(Files.readAllBytes(file)).isEqualTo(before);
            disk.readOnly(false);
            try (JdbcJobStore store = JdbcJobStore.sqlite(file)) {
                store.prepare();
                assertThat(store.find(JobQuery.all()).items()).hasSize(20);
            }
        }
    }

    @Test
    void a_damaged_file_is_refused_and_not_written_to() throws IOException {
        Path file = directory.resolve("jobs.db");
        try (FaultRun run = new FaultRun(directory, "sqlite:" + file)) {
            for (int i = 0; i < 20; i++) {
                enqueue(run);
            }
        }
        byte[] sound = Files.readAllBytes(file);
        byte[] half = Arrays.copyOf(sound, sound.length / 2);
        byte[] headless = sound.clone();
        Arrays.fill(headless, 0, 100, (byte) 7);
        byte[] rotten = sound.clone();
        Arrays.fill(rotten, 4_096, rotten.length, (byte) 7);
        for (byte[] damaged : List.of(half, headless, rotten)) {
            Files.write(file, damaged);
            try (JdbcJobStore store = JdbcJobStore.sqlite(file)) {
                StoreException refusal = catchThrowableOfType(StoreException.class, () -> {
                    store.prepare();
                    store.find(JobQuery.all().limit(JobQuery.MAX_LIMIT));
                });
                assertThat(refusal).hasMessageContaining("jobs.db");
                assertThat(refusal.isTransient()).isFalse();
            }
            assertThat(Files.readAllBytes(file)).isEqualTo(damaged);
        }
        Files.write(file, sound);
        try (JdbcJobStore store = JdbcJobStore.sqlite(file)) {
            assertThat(store.find(JobQuery.all().limit(JobQuery.MAX_LIMIT)).items())
                    .hasSize(400);
        }
    }
}
