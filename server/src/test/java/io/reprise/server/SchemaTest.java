// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Reprise;
import io.reprise.jackson.JacksonCodec;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
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
