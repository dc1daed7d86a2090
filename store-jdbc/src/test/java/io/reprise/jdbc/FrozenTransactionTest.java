// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.reprise.JobId;
import io.reprise.JobState;
import io.reprise.store.Claim;
import io.reprise.store.Note;
import io.reprise.store.StoreException;
import io.reprise.testkit.Claims;
import io.reprise.testkit.Jobs;
import io.reprise.testkit.PostgresServer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** A process that is frozen, or cut off, in the middle of a transaction must not keep its locks from the others. */
@Timeout(60)
class FrozenTransactionTest {

    private final CountDownLatch frozen = new CountDownLatch(1);
    private final CountDownLatch thawed = new CountDownLatch(1);

    /** Connections that freeze before they commit, once armed. */
    private final class Freezing extends PGSimpleDataSource {
        private static final long serialVersionUID = 1L;
        private transient volatile boolean armed;

        @Override
        public Connection getConnection() throws SQLException {
            Connection real = super.getConnection();
            return (Connection) Proxy.newProxyInstance(
                    Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, args) -> {
                        if (armed && method.getName().equals("commit")) {
                            frozen.countDown();
                            thawed.await();
                        }
                        try {
                            return method.invoke(real, args);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }
    }

    @Test
    void the_server_ends_what_is_idle_in_a_transaction() throws Exception {
        String url = PostgresServer.shared().freshDatabaseUrl();
        Freezing source = new Freezing();
        source.setUrl(url);
        try (JdbcJobStore cutOff =
                        JdbcJobStore.builder().timeout(Duration.ofSeconds(1)).postgresql(source);
                JdbcJobStore other =
                        JdbcJobStore.builder().timeout(Duration.ofSeconds(5)).open(url)) {
            other.prepare();
            JobId id = other.insert(List.of(Jobs.spec("work").build())).get(0).id();
            source.armed = true;
            CompletableFuture<Void> cancelling =
                    CompletableFuture.runAsync(() -> cutOff.cancel(id, new Note("ada", "frozen")));
            frozen.await();
            List<Claim> claims = new ArrayList<>();
            while (claims.isEmpty()) {
                claims.addAll(other.claim(Claims.upTo(1).build()));
            }
            thawed.countDown();
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(cancelling::get)
                    .withCauseInstanceOf(StoreException.class);
            assertThat(other.find(id).orElseThrow().state()).isEqualTo(JobState.RUNNING);
        } finally {
            thawed.countDown();
        }
    }
}
