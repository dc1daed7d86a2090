// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.JobSpec;
import io.reprise.testkit.servers.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import liquibase.Contexts;
import liquibase.Liquibase;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import liquibase.resource.DirectoryResourceAccessor;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tables that Flyway and Liquibase make of our files are those that the program makes itself. */
class SchemaToolsTest {

    /** What the tools keep for themselves. */
    private static final String OF_TOOLS = "(?is).*(flyway|databasechangelog).*";

    @TempDir
    Path directory;

    private Path write(Map<String, String> files) throws IOException {
        Path made = Files.createDirectory(directory.resolve("files"));
        for (Map.Entry<String, String> file : files.entrySet()) {
            Files.writeString(made.resolve(file.getKey()), file.getValue());
        }
        return made;
    }

    private static void flyway(String url, Path files) {
        Flyway.configure()
                .dataSource(url, null, null)
                .locations("filesystem:" + files)
                .load()
                .migrate();
    }

    private static void liquibase(String url, Path files) throws Exception {
        try (Connection connection = DriverManager.getConnection(url);
                Liquibase liquibase = new Liquibase(
                        "reprise.sql",
                        new DirectoryResourceAccessor(files),
                        DatabaseFactory.getInstance()
                                .findCorrectDatabaseImplementation(new JdbcConnection(connection)))) {
            liquibase.update(new Contexts());
        }
    }

    private static List<String> schema(String url, String query) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            List<String> lines = new ArrayList<>();
            while (rows.next()) {
                if (!rows.getString(1).matches(OF_TOOLS)) {
                    lines.add(rows.getString(1));
                }
            }
            return lines;
        }
    }

    /** As the program makes it; then as it is found, which the program takes for its own and works with. */
    private static void requireSame(
            String own, Supplier<JdbcJobStore> open, String made, Supplier<JdbcJobStore> openMade, String query)
            throws SQLException {
        try (JdbcJobStore store = open.get()) {
            store.prepare();
        }
        assertThat(schema(made, query)).isEqualTo(schema(own, query));
        try (JdbcJobStore store = openMade.get()) {
            store.requirePrepared();
            store.prepare();
            assertThat(store.insert(List.of(JobSpec.builder("a", "{}").build())))
                    .hasSize(1);
        }
    }

    private static void requirePostgres(String made) throws SQLException {
        String own = PostgresServer.shared().freshDatabaseUrl();
        requireSame(own, () -> JdbcJobStore.open(own), made, () -> JdbcJobStore.open(made), SchemaTest.POSTGRES_SCHEMA);
    }

    @Test
    void flyway_makes_the_tables_on_postgresql() throws Exception {
        String made = PostgresServer.shared().freshDatabaseUrl();
        flyway(made, write(JdbcSchema.flyway("postgresql")));
        requirePostgres(made);
    }

    @Test
    void liquibase_makes_the_tables_on_postgresql() throws Exception {
        String made = PostgresServer.shared().freshDatabaseUrl();
        liquibase(made, write(JdbcSchema.liquibase("postgresql")));
        requirePostgres(made);
    }

    private String sqlite(String name) {
        return "jdbc:sqlite:" + directory.resolve(name);
    }

    private void requireSqlite() throws SQLException {
        requireSame(
                sqlite("own.db"),
                () -> JdbcJobStore.sqlite(directory.resolve("own.db")),
                sqlite("made.db"),
                () -> JdbcJobStore.sqlite(directory.resolve("made.db")),
                SchemaTest.SQLITE_SCHEMA);
    }

    @Test
    void flyway_makes_the_tables_on_sqlite() throws Exception {
        flyway(sqlite("made.db"), write(JdbcSchema.flyway("sqlite")));
        requireSqlite();
    }

    @Test
    void liquibase_makes_the_tables_on_sqlite() throws Exception {
        liquibase(sqlite("made.db"), write(JdbcSchema.liquibase("sqlite")));
        requireSqlite();
    }
}
