// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.job.DuplicateKeyException;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.JobWriter;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

@ParameterizedClass
@ValueSource(strings = {"PostgreSQL", "MariaDB"})
class JdbcTransactionTest {

    private static final JobSpec SPEC = JobSpec.builder("work", "1").build();
    private static ServerDatabase database;

    @Parameter
    String product;

    @TempDir
    Path directory;

    @BeforeParameterizedClassInvocation
    static void open(String product) {
        database = product.equals("PostgreSQL") ? new Postgres() : new MariaDb();
    }

    @AfterParameterizedClassInvocation
    static void close() {
        database.close();
    }

    @BeforeEach
    void empty() {
        database.empty();
    }

    @Test
    void a_connection_in_autocommit_mode_is_refused() throws SQLException {
        try (Connection connection = database.connection()) {
            JobWriter writer = database.store().within(JdbcTransaction.of(connection));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> writer.insert(List.of(SPEC)))
                    .withMessageContaining("autocommit");
        }
    }

    @Test
    void a_connection_to_another_kind_of_database_is_refused() throws SQLException {
        try (Connection connection = Sqlite.connection(directory.resolve("other.db"))) {
            connection.setAutoCommit(false);
            JobWriter writer = database.store().within(JdbcTransaction.of(connection));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> writer.insert(List.of(SPEC)))
                    .withMessageContaining("SQLite")
                    .withMessageContaining(product);
        }
    }

    @Test
    void the_connection_is_asked_for_each_time() throws SQLException {
        try (Connection first = database.connection();
                Connection second = database.connection()) {
            first.setAutoCommit(false);
            second.setAutoCommit(false);
            Connection[] current = {first};
            JobWriter writer = database.store().within(JdbcTransaction.of(() -> current[0]));
            writer.insert(List.of(SPEC));
            current[0] = second;
            writer.insert(List.of(SPEC, SPEC));
            first.rollback();
            second.commit();
            assertThat(first.isClosed() || second.isClosed()).isFalse();
            assertThat(database.store().find(JobQuery.all()).items()).hasSize(2);
        }
    }

    @Test
    void a_refused_batch_leaves_nothing_in_a_transaction_that_goes_on() throws SQLException {
        database.store().insert(List.of(SPEC.toBuilder().key("k", KeyRule.KEEP).build()));
        try (Connection connection = database.connection()) {
            connection.setAutoCommit(false);
            JobWriter writer = database.store().within(JdbcTransaction.of(connection));
            JobSpec refused = SPEC.toBuilder().key("k", KeyRule.REJECT).build();
            assertThatExceptionOfType(DuplicateKeyException.class)
                    .isThrownBy(() -> writer.insert(List.of(SPEC, refused)));
            connection.commit();
        }
        assertThat(database.store().find(JobQuery.all()).items()).hasSize(1);
    }

    @Test
    void a_replacement_is_refused_above_read_committed() throws SQLException {
        JobSpec replacing = SPEC.toBuilder().key("k", KeyRule.REPLACE).build();
        database.store().insert(List.of(replacing));
        for (int isolation : List.of(Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE)) {
            try (Connection connection = database.connection()) {
                connection.setTransactionIsolation(isolation);
                connection.setAutoCommit(false);
                JobWriter writer = database.store().within(JdbcTransaction.of(connection));
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> writer.insert(List.of(replacing)))
                        .withMessageContaining("READ COMMITTED");
                writer.insert(List.of(SPEC));
                connection.commit();
            }
        }
        assertThat(database.store().find(JobQuery.all()).items()).hasSize(3);
    }

    @Test
    void a_new_policy_in_an_open_transaction_hinders_nobody() throws SQLException {
        JobSpec spec =
                SPEC.toBuilder().policy(RetryPolicy.unset().maxAttempts(17)).build();
        try (Connection connection = database.connection();
                JdbcJobStore other = database.open(JdbcJobStore.builder().timeout(Duration.ofMinutes(1)))) {
            connection.setAutoCommit(false);
            database.store().within(JdbcTransaction.of(connection)).insert(List.of(spec));
            JobId id = other.insert(List.of(spec)).get(0).id();
            connection.rollback();
            assertThat(other.find(id).orElseThrow().spec().policy()).isEqualTo(spec.policy());
        }
    }

    @Test
    void many_jobs_join_a_transaction() throws SQLException {
        try (Connection connection = database.connection()) {
            connection.setAutoCommit(false);
            database.store().within(JdbcTransaction.of(connection)).insert(java.util.Collections.nCopies(500, SPEC));
            assertThat(database.store().queues()).isEmpty();
            connection.commit();
        }
        assertThat(database.store().find(JobQuery.all().limit(1_000)).items()).hasSize(500);
    }
}
