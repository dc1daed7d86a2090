// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Reprise;
import io.reprise.cli.Cli;
import io.reprise.jackson.JacksonCodec;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SchemaTest {

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mysql", "mariadb", "sqlite"})
    void the_tables_are_printed(String dialect) {
        Cli run = Cli.line("schema print --dialect " + dialect);
        assertThat(run.code()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.out())
                .containsIgnoringCase("create table")
                .contains("reprise_job")
                .endsWith(";\n");
    }

    @ParameterizedTest
    @CsvSource({"flyway, 10, V1__reprise_jobs.sql", "liquibase, 1, reprise.sql"})
    void the_tables_are_written_for_tools(String format, int files, String first, @TempDir Path directory) {
        Path made = directory.resolve("db/reprise");
        Cli run = Cli.line("schema export --dialect mariadb --format " + format + " " + made);
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out().lines()).hasSize(files);
        assertThat(made.resolve(first)).content().contains("create table").doesNotContain("{collation}");
    }

    @Test
    void a_database_made_from_the_print_is_ready_for_use(@TempDir Path directory) throws SQLException {
        Path file = directory.resolve("own.db");
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = connection.createStatement()) {
            statement.executeUpdate(Cli.line("schema print --dialect sqlite").out());
        }
        try (Reprise reprise = Reprise.builder()
                .store(Stores.sqlite(file))
                .codec(new JacksonCodec())
                .start()) {
            assertThat(reprise.queues()).isEmpty();
        }
    }
}
