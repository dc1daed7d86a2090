// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.jdbc.sql.Migrations;
import io.reprise.job.RepriseException;
import io.reprise.testkit.servers.MariaDbServer;
import io.reprise.testkit.servers.PostgresServer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SchemaTest {

    static final String SQLITE_SCHEMA =
            "select sql from sqlite_master where sql is not null and name not like 'sqlite%' order by type, name";

    static final String POSTGRES_SCHEMA = """
            select line from (
              select 'table ' || table_name || '.' || column_name || ' ' || data_type
                     || case when is_nullable = 'NO' then ' not null' else '' end
                     || coalesce(' default ' || column_default, '') as line
                from information_schema.columns
               where table_schema = 'public'
              union all
              select 'index ' || indexdef from pg_indexes where schemaname = 'public'
              union all
              select 'check ' || conrelid::regclass || ' ' || pg_get_constraintdef(oid)
                from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace
              union all
              select 'options ' || relname || ' ' || array_to_string(reloptions, ' ')
                from pg_class where reloptions is not null and relnamespace = 'public'::regnamespace
            ) x order by line collate "C"
            """;

    /** The script itself is the definition; this is what the server made of it. */
    private static final String MARIADB_SCHEMA = """
            select line from (
              select concat('table ', table_name, ' ', engine, ' ', row_format, ' ', table_collation) as line
                from information_schema.tables
               where table_schema = database() and table_type = 'BASE TABLE' and table_name <> 'reprise_migration'
              union all
              select concat('column ', table_name, '.', column_name, ' ', column_type,
                            if(is_nullable = 'NO', ' not null', ''), coalesce(concat(' default ', column_default), ''),
                            if(extra = '', '', concat(' ', lower(extra))))
                from information_schema.columns
               where table_schema = database() and table_name <> 'reprise_migration'
              union all
              select concat('index ', table_name, '.', index_name, if(non_unique, '', ' unique'), ' (',
                            group_concat(column_name order by seq_in_index separator ', '), ')')
                from information_schema.statistics
               where table_schema = database() and table_name <> 'reprise_migration'
               group by table_name, index_name, non_unique
              union all
              select concat('check ', table_name, ' ', check_clause)
                from information_schema.check_constraints
               where constraint_schema = database()
            ) x order by cast(line as binary)
            """;

    @TempDir
    Path directory;

    @Test
    void the_sqlite_schema_is_the_golden_one() throws IOException {
        Path file = directory.resolve("jobs.db");
        try (JdbcJobStore store = JdbcJobStore.sqlite(file)) {
            store.prepare();
        }
        assertGolden("sqlite.golden", String.join(";\n", Sqlite.query(file, SQLITE_SCHEMA)) + "\n");
    }

    @Test
    void the_postgresql_schema_is_the_golden_one() throws IOException {
        try (Postgres postgres = new Postgres()) {
            assertGolden("postgresql.golden", String.join("\n", postgres.query(POSTGRES_SCHEMA)) + "\n");
        }
    }

    @Test
    void the_mariadb_schema_is_the_golden_one() throws IOException {
        try (MariaDb mariadb = new MariaDb()) {
            assertGolden("mariadb.golden", String.join("\n", mariadb.query(MARIADB_SCHEMA)) + "\n");
        }
    }

    @Test
    void the_printed_schema_leaves_nothing_to_prepare() {
        Path file = directory.resolve("jobs.db");
        Sqlite.execute(file, Migrations.statements(JdbcSchema.print("sqlite")).toArray(String[]::new));
        List<String> before = Sqlite.query(file, SQLITE_SCHEMA);
        try (JdbcJobStore store = JdbcJobStore.sqlite(file)) {
            store.prepare();
        }
        assertThat(Sqlite.query(file, SQLITE_SCHEMA)).isEqualTo(before);
        assertThat(JdbcSchema.print("postgresql")).contains("create table reprise_lease");
        assertThatThrownBy(() -> JdbcSchema.print("oracle")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_schema_of_a_newer_version_is_refused() {
        Path file = directory.resolve("jobs.db");
        try (JdbcJobStore store = JdbcJobStore.sqlite(file)) {
            store.prepare();
            Sqlite.execute(file, "insert into reprise_migration values (99, 'x', 0, 99)");
            assertThatThrownBy(store::prepare)
                    .isInstanceOf(RepriseException.class)
                    .hasMessageContaining("version 99")
                    .hasMessageContaining("newer Reprise");
        }
    }

    @Test
    void a_schema_changed_by_hand_is_refused() {
        Path file = directory.resolve("jobs.db");
        try (JdbcJobStore store = JdbcJobStore.sqlite(file)) {
            store.prepare();
            Sqlite.execute(file, "update reprise_migration set checksum = 'x'");
            assertThatThrownBy(store::prepare)
                    .isInstanceOf(RepriseException.class)
                    .hasMessageContaining("checksum");
        }
    }

    private static List<String> allVersions() {
        return IntStream.rangeClosed(1, Migrations.STEPS.size())
                .mapToObj(String::valueOf)
                .toList();
    }

    @Test
    void many_threads_prepare_one_sqlite_file() throws Exception {
        Path file = directory.resolve("jobs.db");
        prepareAtOnce(() -> JdbcJobStore.sqlite(file));
        assertThat(Sqlite.query(file, "select version from reprise_migration")).isEqualTo(allVersions());
    }

    @Test
    void many_threads_prepare_one_postgresql_database() throws Exception {
        String url = PostgresServer.shared().freshDatabaseUrl();
        prepareAtOnce(() -> JdbcJobStore.open(url));
    }

    @Test
    void many_threads_prepare_one_mariadb_database() throws Exception {
        String url = MariaDbServer.shared().freshDatabaseUrl();
        prepareAtOnce(() -> JdbcJobStore.open(url));
    }

    @Test
    void the_printed_schema_leaves_nothing_to_prepare_in_mariadb() throws SQLException {
        String url = MariaDbServer.shared().freshDatabaseUrl();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            for (String sql : Migrations.statements(JdbcSchema.print("mariadb"))) {
                statement.execute(sql);
            }
        }
        try (JdbcJobStore store = JdbcJobStore.open(url)) {
            store.prepare();
            assertThat(store.queues()).isEmpty();
        }
        assertThat(JdbcSchema.print("mysql")).contains("utf8mb4_0900_bin").doesNotContain("{");
    }

    @Test
    void a_migration_that_was_cut_off_is_run_again_in_mariadb() throws SQLException {
        String url = MariaDbServer.shared().freshDatabaseUrl();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            List<String> all = Migrations.statements(JdbcSchema.print("mariadb"));
            for (String sql : all.subList(0, all.size() / 2)) {
                statement.execute(sql);
            }
            statement.execute("delete from reprise_migration");
        }
        try (JdbcJobStore store = JdbcJobStore.open(url)) {
            store.prepare();
            assertThat(store.alerts()).isEmpty();
        }
    }

    @Test
    void two_processes_prepare_one_sqlite_file() throws Exception {
        Path file = directory.resolve("jobs.db");
        List<Process> processes = List.of(prepareElsewhere(file), prepareElsewhere(file));
        for (Process process : processes) {
            assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
            assertThat(process.exitValue())
                    .as(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .isZero();
        }
        assertThat(Sqlite.query(file, "select version from reprise_migration")).isEqualTo(allVersions());
    }

    /** What the other process runs. */
    static final class Preparing {
        private Preparing() {}

        public static void main(String[] args) {
            try (JdbcJobStore store = JdbcJobStore.sqlite(Path.of(args[0]))) {
                store.prepare();
            }
        }
    }

    private static Process prepareElsewhere(Path file) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Preparing.class.getName(),
                        file.toString())
                .redirectErrorStream(true)
                .start();
    }

    private static void prepareAtOnce(Supplier<JdbcJobStore> opener) throws InterruptedException, ExecutionException {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            List<Callable<Boolean>> tasks = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                tasks.add(() -> {
                    try (JdbcJobStore store = opener.get()) {
                        store.prepare();
                        return store.queues().isEmpty();
                    }
                });
            }
            for (Future<Boolean> done : threads.invokeAll(tasks)) {
                assertThat(done.get()).isTrue();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** {@code -Dreprise.schema.write=true} writes the file instead. */
    private static void assertGolden(String name, String schema) throws IOException {
        if (Boolean.getBoolean("reprise.schema.write")) {
            Files.writeString(Path.of("src/test/resources/io/reprise/jdbc").resolve(name), schema);
        } else {
            assertThat(schema).isEqualTo(golden(name));
        }
    }

    private static String golden(String name) throws IOException {
        try (InputStream in = SchemaTest.class.getResourceAsStream(name)) {
            return in == null ? "" : new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CockroachDB CCL v25.4.3 (x86_64-pc-linux-gnu, built 2026/01/20, go1.25)",
                "PostgreSQL 15.12-YB-2025.2.0.0-b0 on x86_64-pc-linux-gnu"
            })
    void a_server_that_only_speaks_like_postgresql_is_refused(String version) throws SQLException {
        String url = PostgresServer.shared().freshDatabaseUrl();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("create schema other");
            statement.execute(
                    "create function other.version() returns text language sql as $$ select '" + version + "' $$");
        }
        try (JdbcJobStore store = JdbcJobStore.open(url + "&options=-c%20search_path=other,pg_catalog,public")) {
            assertThatThrownBy(store::prepare)
                    .isInstanceOf(RepriseException.class)
                    .hasMessageContaining(version);
        }
    }
}
