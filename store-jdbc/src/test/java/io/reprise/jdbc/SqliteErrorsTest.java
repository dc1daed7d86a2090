// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sqlite.SqliteDatabase;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.store.StoreException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What can be wrong with a file, and what the user is told. */
class SqliteErrorsTest {

    @TempDir
    Path directory;

    private static StoreException refusal(JdbcJobStore store, Runnable work) {
        try (store) {
            return catchThrowableOfType(StoreException.class, work::run);
        }
    }

    private static void add(JdbcJobStore store, String payload) {
        store.insert(List.of(JobSpec.builder("work", payload).build()));
    }

    @Test
    void a_missing_directory_is_named() {
        JdbcJobStore store = JdbcJobStore.sqlite(directory.resolve("nowhere/jobs.db"));
        StoreException refusal = refusal(store, store::prepare);
        assertThat(refusal).hasMessageContaining("nowhere").hasMessageContaining("directory must exist");
        assertThat(refusal.isTransient()).isFalse();
    }

    @Test
    void a_file_that_is_no_database_is_refused() throws IOException {
        Path file = directory.resolve("notes.txt");
        Files.writeString(file, "This is a text, and a long one, that is certainly not a database.\n".repeat(100));
        JdbcJobStore store = JdbcJobStore.sqlite(file);
        StoreException refusal = refusal(store, store::prepare);
        assertThat(refusal).hasMessageContaining("notes.txt").hasMessageContaining("not an SQLite database");
        assertThat(refusal.isTransient()).isFalse();
    }

    @Test
    void a_damaged_file_is_reported() throws IOException {
        Path file = directory.resolve("jobs.db");
        try (JdbcJobStore store = JdbcJobStore.sqlite(file)) {
            store.prepare();
            for (int i = 0; i < 50; i++) {
                add(store, "\"" + "x".repeat(2_000) + "\"");
            }
        }
        byte[] bytes = Files.readAllBytes(file);
        byte[] noise = "noise ".repeat(1_000).getBytes(StandardCharsets.UTF_8);
        for (int at = 8_192; at + noise.length < bytes.length; at += noise.length) {
            System.arraycopy(noise, 0, bytes, at, noise.length);
        }
        Files.write(file, bytes);
        JdbcJobStore store = JdbcJobStore.sqlite(file);
        StoreException refusal = refusal(store, () -> store.find(JobQuery.all()));
        assertThat(refusal).hasMessageContaining("damaged").hasMessageContaining("backup");
        assertThat(refusal.isTransient()).isFalse();
    }

    @Test
    void a_lock_held_too_long_by_another_is_transient() throws SQLException {
        Path file = directory.resolve("jobs.db");
        JdbcJobStore store = JdbcJobStore.builder()
                .sqlite(new SqliteDatabase(
                        file, Duration.ofMillis(20), 1, () -> DriverManager.getConnection("jdbc:sqlite:" + file)));
        store.prepare();
        try (Connection other = Sqlite.connection(file);
                Statement statement = other.createStatement()) {
            statement.execute("begin immediate");
            StoreException refusal = catchThrowableOfType(StoreException.class, () -> add(store, "1"));
            assertThat(refusal).hasMessageContaining("write lock").hasMessageContaining("jobs.db");
            assertThat(refusal.isTransient()).isTrue();
            assertThat(store.find(JobQuery.all()).items()).isEmpty();
            statement.execute("rollback");
            add(store, "2");
            assertThat(store.find(JobQuery.all()).items()).hasSize(1);
        }
        store.close();
    }

    @Test
    void a_full_disk_loses_nothing_that_was_committed() {
        Path file = directory.resolve("jobs.db");
        try (JdbcJobStore setup = JdbcJobStore.sqlite(file)) {
            setup.prepare();
            add(setup, "\"kept\"");
        }
        JdbcJobStore store =
                JdbcJobStore.builder().sqlite(new SqliteDatabase(file, Duration.ofSeconds(1), 1, () -> limited(file)));
        StoreException refusal = refusal(store, () -> add(store, "\"" + "x".repeat(900_000) + "\""));
        assertThat(refusal).hasMessageContaining("disk is full").hasMessageContaining("nothing that was committed");
        assertThat(refusal.isTransient()).isTrue();
        try (JdbcJobStore again = JdbcJobStore.sqlite(file)) {
            assertThat(again.find(JobQuery.all()).items())
                    .extracting(job -> job.spec().payload())
                    .containsExactly("\"kept\"");
            add(again, "1");
        }
    }

    /** A connection for which the disk ends after the pages there are. */
    private static Connection limited(Path file) throws SQLException {
        Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        try (Statement statement = connection.createStatement()) {
            statement.execute("pragma max_page_count = 1");
        }
        return connection;
    }

    @Test
    void a_read_only_database_is_reported() {
        Path file = directory.resolve("jobs.db");
        try (JdbcJobStore setup = JdbcJobStore.sqlite(file)) {
            setup.prepare();
        }
        // Opened read-only, since the superuser may write to a read-only file.
        JdbcJobStore store = JdbcJobStore.builder()
                .sqlite(new SqliteDatabase(
                        file,
                        Duration.ofSeconds(1),
                        1,
                        () -> DriverManager.getConnection("jdbc:sqlite:file:" + file + "?mode=ro")));
        StoreException refusal = refusal(store, () -> add(store, "1"));
        assertThat(refusal).hasMessageContaining("read-only").hasMessageContaining("writable");
        assertThat(refusal.isTransient()).isFalse();
    }

    @Test
    void an_unprepared_file_says_what_to_call() {
        JdbcJobStore store = JdbcJobStore.sqlite(directory.resolve("jobs.db"));
        StoreException refusal = refusal(store, () -> add(store, "1"));
        assertThat(refusal).hasMessageContaining("prepare()");
    }

    @Test
    @Timeout(300)
    void after_close_nothing_waits() {
        JdbcJobStore store = JdbcJobStore.builder().timeout(Duration.ofHours(1)).sqlite(directory.resolve("closed.db"));
        store.prepare();
        store.liveQueues();
        store.close();
        for (int i = 0; i < 5; i++) {
            assertThatIllegalStateException().isThrownBy(store::liveQueues).withMessageContaining("closed");
        }
        assertThatIllegalStateException().isThrownBy(store::maintain).withMessageContaining("closed");
    }

    @Test
    @Timeout(300)
    void a_connection_in_use_is_closed_when_it_comes_back() throws SQLException {
        List<Connection> opened = new ArrayList<>();
        Path file = directory.resolve("used.db");
        SqliteDatabase database = new SqliteDatabase(file, Duration.ofHours(1), 1, () -> {
            Connection connection = Sqlite.connection(file);
            opened.add(connection);
            return connection;
        });
        database.read("close meanwhile", session -> {
            database.close();
            return session.one("select 1", SqlRow::number);
        });
        assertThat(opened).hasSize(1);
        assertThat(opened.get(0).isClosed()).isTrue();
    }
}
