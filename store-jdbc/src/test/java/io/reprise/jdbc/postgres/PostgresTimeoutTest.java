// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import static io.reprise.testkit.servers.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.Postgres;
import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.Database.Refusal;
import io.reprise.jdbc.sql.Pool;
import io.reprise.job.JobSpec;
import io.reprise.store.StoreException;
import io.reprise.testkit.faults.Insist;
import io.reprise.testkit.servers.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nothing waits for ever, also on a source that sets no limits. */
@Timeout(600)
class PostgresTimeoutTest {

    private static final List<JobSpec> JOBS =
            Collections.nCopies(300, JobSpec.builder("work", "1").build());

    @Test
    void every_connection_of_a_plain_source_has_a_network_timeout() {
        HikariConfig config = new HikariConfig();
        config.setDataSource(PostgresServer.shared().freshDatabase());
        try (HikariDataSource pool = new HikariDataSource(config);
                PostgresDatabase database = new PostgresDatabase(Pool.own(pool), Pool.own(pool), 5, false)) {
            Database.Work<Integer> look = session -> session.connection().getNetworkTimeout();
            assertThat(database.read("look", look)).isEqualTo(15_000);
            assertThat(database.write("look", Refusal.never(), look)).isEqualTo(15_000);
        }
    }

    private static String refusal(JdbcJobStore store) {
        StoreException refusal = catchThrowableOfType(StoreException.class, () -> store.insert(JOBS));
        assertThat(refusal).isNotNull();
        return refusal.getMessage();
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
            // A server that stands still for longer than the limit may refuse in other words first.
            until(() -> refusal(store).contains("57014"));
            other.rollback();
            assertThat(Insist.on(() -> store.insert(JOBS))).hasSize(300);
        }
    }
}
