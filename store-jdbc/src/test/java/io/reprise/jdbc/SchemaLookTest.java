// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.job.JobSpec;
import io.reprise.job.RepriseException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a program does about a schema that is not its own. */
class SchemaLookTest {

    @TempDir
    Path directory;

    private void change(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("jobs.db"));
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private JdbcJobStore open() {
        return JdbcJobStore.sqlite(directory.resolve("jobs.db"));
    }

    @Test
    void a_look_creates_nothing() {
        try (JdbcJobStore store = open()) {
            assertThatThrownBy(store::requirePrepared)
                    .isInstanceOf(RepriseException.class)
                    .hasMessageContaining("schema version 0");
            store.prepare();
            assertThatCode(store::requirePrepared).doesNotThrowAnyException();
        }
    }

    @Test
    void a_newer_schema_is_used_as_far_as_it_says_that_it_may_be() throws SQLException {
        try (JdbcJobStore store = open()) {
            store.prepare();
        }
        change("insert into reprise_migration values (99, 'newer', 0, 4)");
        try (JdbcJobStore store = open()) {
            store.prepare();
            store.requirePrepared();
            assertThat(store.insert(List.of(JobSpec.builder("a", "{}").build())))
                    .hasSize(1);
        }
        change("update reprise_migration set min_reader = 99 where version = 99");
        try (JdbcJobStore store = open()) {
            assertThatThrownBy(store::prepare).hasMessageContaining("newer Reprise");
            assertThatThrownBy(store::requirePrepared).hasMessageContaining("newer Reprise");
        }
    }
}
