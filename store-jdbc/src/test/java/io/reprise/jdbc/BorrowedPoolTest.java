// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.reprise.job.Enqueued;
import io.reprise.job.JobSpec;
import io.reprise.store.Claim;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestSettlements;
import io.reprise.testkit.servers.MariaDbServer;
import io.reprise.testkit.servers.PostgresServer;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A store on the pool of an application uses it as it is. */
class BorrowedPoolTest {

    enum Server {
        POSTGRESQL,
        MARIADB;

        String fresh() {
            return this == POSTGRESQL
                    ? PostgresServer.shared().freshDatabaseUrl()
                    : MariaDbServer.shared().freshDatabaseUrl();
        }
    }

    private HikariDataSource pool;

    private HikariDataSource withoutAutoCommit(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setAutoCommit(false);
        config.setMaximumPoolSize(4);
        config.setTransactionIsolation("TRANSACTION_REPEATABLE_READ");
        pool = new HikariDataSource(config);
        return pool;
    }

    @AfterEach
    void close() {
        if (pool != null) {
            pool.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_pool_without_autocommit_stores_claims_and_settles(Server server) throws SQLException {
        try (JdbcJobStore store = JdbcJobStore.builder().pooled(withoutAutoCommit(server.fresh()))) {
            store.prepare();
            List<Enqueued> stored = store.insert(List.of(
                    JobSpec.builder("a", "1").build(), JobSpec.builder("b", "2").build()));
            Claim claim = store.claim(TestClaims.upTo(10).build()).get(0);
            assertThat(claim.jobs()).hasSize(2);
            assertThat(store.settle(claim.jobs().stream()
                                    .map(job -> TestSettlements.success(claim, job))
                                    .toList())
                            .stale())
                    .isEmpty();
            assertThat(store.find(stored.get(0).id()).orElseThrow().state().isTerminal())
                    .isTrue();
        }
        try (Connection connection = pool.getConnection()) {
            assertThat(connection.getAutoCommit()).isFalse();
            assertThat(connection.getNetworkTimeout()).isZero();
            assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_REPEATABLE_READ);
        }
        assertThat(pool.isClosed()).isFalse();
    }

    @Test
    void connections_of_a_source_without_a_pool_come_back_as_they_were() throws SQLException {
        try (Connection one = PostgresServer.shared().freshDatabase().getConnection()) {
            try (JdbcJobStore store = JdbcJobStore.builder().pollOnly().pooled(always(one))) {
                store.prepare();
                store.insert(List.of(JobSpec.builder("a", "1").build()));
            }
            assertThat(one.getAutoCommit()).isTrue();
            assertThat(one.getNetworkTimeout()).isZero();
            assertThat(one.isClosed()).isFalse();
        }
    }

    /** A source that always gives the same connection, and does not let it be closed. */
    private static DataSource always(Connection one) {
        Connection open = proxy(
                Connection.class,
                (method, arguments) -> method.getName().equals("close") ? null : method.invoke(one, arguments));
        return proxy(DataSource.class, (method, arguments) -> open);
    }

    private interface Answer {
        Object to(Method method, Object[] arguments) throws ReflectiveOperationException;
    }

    private static <T> T proxy(Class<T> type, Answer answer) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) -> answer.to(method, arguments)));
    }

    @Test
    void a_source_for_sqlite_leads_to_its_file(@TempDir Path folder) {
        Path file = folder.resolve("jobs.db");
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:sqlite:" + file);
        pool = new HikariDataSource(config);
        try (JdbcJobStore store = JdbcJobStore.builder().pooled(pool)) {
            store.prepare();
            assertThat(store.insert(List.of(JobSpec.builder("a", "1").build()))).hasSize(1);
        }
        assertThat(file).exists();
    }

    @Test
    void an_sqlite_database_in_memory_is_refused_with_what_to_write() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:sqlite::memory:");
        pool = new HikariDataSource(config);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JdbcJobStore.builder().pooled(pool))
                .withMessageContaining("jdbc:sqlite:jobs.db");
    }
}
