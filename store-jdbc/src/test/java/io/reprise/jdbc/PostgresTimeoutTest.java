// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.reprise.JobSpec;
import io.reprise.store.StoreException;
import io.reprise.testkit.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nothing waits for ever, also on a source that sets no limits. */
@Timeout(60)
class PostgresTimeoutTest {

    @Test
    void every_connection_of_a_plain_source_has_a_network_timeout() {
        HikariConfig config = new HikariConfig();
        config.setDataSource(PostgresServer.shared().freshDatabase());
        try (HikariDataSource pool = new HikariDataSource(config);
                PostgresDatabase database = new PostgresDatabase(pool, 5, false)) {
            Database.Work<Integer> look = session -> session.connection().getNetworkTimeout();
            assertThat(database.read("look", look)).isEqualTo(15_000);
            assertThat(database.write("look", look)).isEqualTo(15_000);
        }
    }

    @Test
    void a_copy_is_bounded_like_every_statement() throws SQLException {
        try (Postgres postgres = new Postgres();
                JdbcJobStore store =
                        JdbcJobStore.builder().timeout(Duration.ofSeconds(1)).postgresql(postgres.source());
                Connection other = postgres.connection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("lock table reprise_job in access exclusive mode");
            assertThatExceptionOfType(StoreException.class)
                    .isThrownBy(() -> store.insert(Collections.nCopies(
                            300, JobSpec.builder("work", "1").build())))
                    .withMessageContaining("57014");
            other.rollback();
            assertThat(store.insert(Collections.nCopies(
                            300, JobSpec.builder("work", "1").build())))
                    .hasSize(300);
        }
    }
}
