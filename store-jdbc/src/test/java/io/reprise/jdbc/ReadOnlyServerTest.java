// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.reprise.job.JobSpec;
import io.reprise.store.StoreException;
import io.reprise.testkit.servers.PostgresServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** A server that has become a standby refuses writes on connections that work otherwise. */
@Timeout(600)
class ReadOnlyServerTest {

    private static final List<JobSpec> ONE =
            List.of(JobSpec.builder("work", "1").build());

    /** Makes connections to a server that is a standby, for a while. */
    @SuppressWarnings("serial") // Not to be written anywhere.
    private static final class FailingOver extends PGSimpleDataSource {

        private final AtomicBoolean standby = new AtomicBoolean();

        @Override
        public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            if (standby.get()) {
                try (Statement statement = connection.createStatement()) {
                    statement.execute("set default_transaction_read_only = on");
                }
            }
            return connection;
        }
    }

    @Test
    void its_connections_are_left_for_new_ones() {
        String url = PostgresServer.shared().freshDatabaseUrl();
        FailingOver source = new FailingOver();
        source.setUrl(url);
        // Before there is a pool, which connects ahead.
        source.standby.set(true);
        try (JdbcJobStore other = JdbcJobStore.open(url);
                JdbcJobStore store = JdbcJobStore.postgresql(source)) {
            other.prepare();
            assertThatExceptionOfType(StoreException.class)
                    .isThrownBy(() -> store.insert(ONE))
                    .withMessageContaining("targetServerType=primary")
                    .satisfies(e -> assertThat(e.isTransient()).isTrue());
            source.standby.set(false);
            // As many connections as the pool has may be of the old kind; each is met once.
            int refused = 0;
            while (!inserts(store)) {
                assertThat(++refused).isLessThanOrEqualTo(8);
            }
            assertThat(other.queues()).hasSize(1);
        }
    }

    private static boolean inserts(JdbcJobStore store) {
        try {
            return store.insert(ONE).size() == 1;
        } catch (StoreException e) {
            return false;
        }
    }
}
