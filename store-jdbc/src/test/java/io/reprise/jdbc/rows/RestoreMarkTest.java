// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.reprise.jdbc.InstalledPostgres;
import io.reprise.jdbc.JdbcBackup;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.AuditNote;
import io.reprise.job.Cancellation;
import io.reprise.job.Enqueued;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.RepriseException;
import io.reprise.step.Checkpoint;
import io.reprise.step.StepWrite;
import io.reprise.step.StoredStep;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.CountedAs;
import io.reprise.store.JobStore;
import io.reprise.store.Settlement;
import io.reprise.testkit.servers.MariaDbServer;
import io.reprise.testkit.servers.PostgresServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

/** A database that came back from a backup, and those who remember what it has forgotten. */
class RestoreMarkTest {

    @TempDir
    Path directory;

    /** What others know of a store at some moment. */
    private record Remembered(long id, long token) {}

    private static Enqueued enqueue(JobStore store, String key) {
        return store.insert(
                        List.of(JobSpec.builder("a", "{}").idempotencyKey(key).build()))
                .get(0);
    }

    private static Checkpoint.Answer charge(JobStore store, JobId job, Claim claim) {
        return store.checkpoint(List.of(new Checkpoint(job, claim.token(), StepWrite.done("charge", null, "7"))))
                .get(0);
    }

    private static Claim claim(JobStore store) {
        return store.claim(new ClaimRequest(
                        "w",
                        Duration.ofHours(1),
                        1,
                        List.of(new ClaimRequest.Demand(JobSpec.DEFAULT_QUEUE, 1)),
                        0.2,
                        true))
                .get(0);
    }

    private static boolean completes(JobStore store, Claim claim) {
        JobId job = claim.jobs().get(0).id();
        Settlement success = new Settlement(
                job, claim.token(), CountedAs.ATTEMPT, Duration.ZERO, new Settlement.Succeed(null), null, null);
        return store.settle(List.of(success), List.of()).stale().isEmpty();
    }

    /** One job runs, then the backup is made, and then a lot happens that is not in it. */
    private static void check(Supplier<JdbcJobStore> open, Runnable backup, Supplier<JdbcJobStore> openCopy) {
        Claim running;
        JobId first;
        JobId asked;
        try (JdbcJobStore store = open.get()) {
            store.prepare();
            first = enqueue(store, "first").id();
            running = claim(store);
            assertThat(charge(store, first, running)).isEqualTo(Checkpoint.Answer.WRITTEN);
            store.createBatch("nightly", null, null);
            store.insert(List.of(JobSpec.builder("a", "{}")
                    .batch("nightly")
                    .delay(Duration.ofDays(1))
                    .build()));
            asked = store.insert(
                            List.of(JobSpec.builder("a", "{}").batch("nightly").build()))
                    .get(0)
                    .id();
            assertThat(claim(store).jobs().get(0).id()).isEqualTo(asked);
            assertThat(store.cancel(asked, new AuditNote("ada", null))).isEqualTo(Cancellation.REQUESTED);
        }
        backup.run();
        Remembered remembered;
        try (JdbcJobStore store = open.get()) {
            JobId later = enqueue(store, "later").id();
            Claim claim = claim(store);
            assertThat(completes(store, claim)).isTrue();
            remembered = new Remembered(later.value(), claim.token());
        }
        try (JdbcJobStore store = openCopy.get()) {
            store.afterRestore();
            assertThat(completes(store, running)).as("a lease of before").isFalse();
            assertThat(charge(store, first, running)).as("a step of before").isEqualTo(Checkpoint.Answer.STALE);
            assertThat(store.steps(first).steps())
                    .extracting(StoredStep::name, StoredStep::value)
                    .containsExactly(tuple("charge", "7"));
            assertThat(store.find(asked).orElseThrow().state())
                    .as("was asked to stop")
                    .isEqualTo(JobState.CANCELLED);
            assertThat(store.batch("nightly").orElseThrow().open()).isEqualTo(1);
            assertThat(store.batch("nightly").orElseThrow().cancelled()).isEqualTo(1);
            assertThat(store.find(first).orElseThrow().state()).isEqualTo(JobState.PENDING);
            assertThat(store.find(first).orElseThrow().counts().losses()).isZero();
            assertThat(enqueue(store, "first").created()).as("is in the backup").isFalse();
            Enqueued again = enqueue(store, "later");
            assertThat(again.created()).as("is not in the backup").isTrue();
            assertThat(again.id().value()).isGreaterThan(remembered.id + 1_000_000);
            Claim claim = claim(store);
            assertThat(claim.jobs().get(0).id()).isEqualTo(first);
            assertThat(claim.token()).isGreaterThan(remembered.token + 1_000_000);
            assertThat(completes(store, claim)).isTrue();
        }
    }

    @Test
    void a_sqlite_file_is_copied_and_made_fit_for_use() {
        Path file = directory.resolve("jobs.db");
        Path copy = directory.resolve("copy.db");
        check(() -> JdbcJobStore.sqlite(file), () -> JdbcBackup.sqlite(file, copy), () -> JdbcJobStore.sqlite(copy));
    }

    @Test
    void a_copy_that_cannot_be_finished_has_no_name() throws Exception {
        Path damaged =
                Files.writeString(directory.resolve("damaged.db"), "no database at all, but long enough".repeat(100));
        Path copy = directory.resolve("copy.db");
        assertThatThrownBy(() -> JdbcBackup.sqlite(damaged, copy))
                .isInstanceOf(RepriseException.class)
                .hasMessageContaining("Cannot copy");
        try (Stream<Path> left = Files.list(directory)) {
            assertThat(left).containsExactly(damaged);
        }
    }

    @Test
    void a_mariadb_database_is_dumped_loaded_and_made_fit_for_use() {
        MariaDbServer server = MariaDbServer.shared();
        String url = server.freshDatabaseUrl();
        String copy = server.freshDatabaseUrl();
        check(() -> JdbcJobStore.open(url), () -> server.dumpAndLoad(url, copy), () -> JdbcJobStore.open(copy));
    }

    @Test
    void a_postgresql_database_is_made_fit_for_use() {
        PostgresServer server = PostgresServer.shared();
        DataSource source = server.freshDatabase();
        String url = server.freshDatabaseUrl();
        String spare = url.substring(url.lastIndexOf('/') + 1).replaceAll("\\?.*", "");
        check(
                () -> JdbcJobStore.builder().postgresql(source),
                () -> {
                    try (Connection connection = source.getConnection();
                            Statement statement = connection.createStatement()) {
                        statement.execute("drop database " + spare);
                        // As a snapshot would: the same rows and sequences.
                        statement.execute("create database " + spare + " template " + connection.getCatalog());
                    } catch (java.sql.SQLException e) {
                        throw new IllegalStateException(e);
                    }
                },
                () -> JdbcJobStore.open(url));
    }

    static boolean hasPgDump() {
        return InstalledPostgres.programs().isPresent();
    }

    @Test
    @EnabledIf("hasPgDump")
    void a_postgresql_database_is_dumped_restored_and_made_fit_for_use() throws Exception {
        try (InstalledPostgres server = new InstalledPostgres(directory);
                Connection connection = DriverManager.getConnection(server.url("postgres"));
                Statement statement = connection.createStatement()) {
            statement.execute("create database jobs");
            statement.execute("create database copy");
            check(
                    () -> JdbcJobStore.open(server.url("jobs")),
                    () -> server.dumpAndRestore("jobs", "copy"),
                    () -> JdbcJobStore.open(server.url("copy")));
        }
    }
}
