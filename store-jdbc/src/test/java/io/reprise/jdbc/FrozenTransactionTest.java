// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static io.reprise.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.reprise.JobId;
import io.reprise.JobState;
import io.reprise.store.Claim;
import io.reprise.store.Note;
import io.reprise.store.StoreException;
import io.reprise.testkit.Claims;
import io.reprise.testkit.Jobs;
import io.reprise.testkit.MariaDbServer;
import io.reprise.testkit.PostgresServer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mariadb.jdbc.MariaDbDataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A process that is frozen, or cut off, in the middle of a transaction must not keep its locks from the others. */
@Timeout(600)
class FrozenTransactionTest {

    private final AtomicBoolean armed = new AtomicBoolean();
    private final CountDownLatch frozen = new CountDownLatch(1);
    private final CountDownLatch thawed = new CountDownLatch(1);

    /** A source of connections that freeze before they commit, once armed. */
    private DataSource freezing(DataSource source) {
        return proxy(DataSource.class, source, (method, answer) -> {
            return method.equals("getConnection")
                    ? proxy(Connection.class, (Connection) answer.call(), this::freeze)
                    : answer.call();
        });
    }

    private @Nullable Object freeze(String method, Callable<@Nullable Object> answer) throws Exception {
        if (armed.get() && method.equals("commit")) {
            frozen.countDown();
            thawed.await();
        }
        return answer.call();
    }

    private interface Interceptor {
        @Nullable
        Object call(String method, Callable<@Nullable Object> answer) throws Exception;
    }

    private static <T> T proxy(Class<T> type, Object real, Interceptor interceptor) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, args) -> interceptor.call(method.getName(), () -> {
                    try {
                        return method.invoke(real, args);
                    } catch (InvocationTargetException e) {
                        throw (Exception) e.getCause();
                    }
                })));
    }

    private static String url(String database) {
        return database.equals("mariadb")
                ? MariaDbServer.shared().freshDatabaseUrl()
                : PostgresServer.shared().freshDatabaseUrl();
    }

    private JdbcJobStore openFreezing(String url) throws SQLException {
        JdbcStoreBuilder settings = JdbcJobStore.builder().timeout(Duration.ofSeconds(1));
        if (url.startsWith("jdbc:mariadb:")) {
            return settings.mysql(freezing(new MariaDbDataSource(url)));
        }
        PGSimpleDataSource plain = new PGSimpleDataSource();
        plain.setUrl(url);
        return settings.postgresql(freezing(plain));
    }

    /** Again, if it did not even come to the commit within its limit. */
    private void cancel(JdbcJobStore store, JobId id) {
        while (true) {
            try {
                store.cancel(id, new Note("ada", "frozen"));
                return;
            } catch (StoreException e) {
                if (frozen.getCount() == 0) {
                    throw e;
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void the_server_ends_what_is_idle_in_a_transaction(String database) throws Exception {
        String url = url(database);
        try (JdbcJobStore cutOff = openFreezing(url);
                JdbcJobStore other = JdbcJobStore.open(url)) {
            other.prepare();
            JobId id = other.insert(List.of(Jobs.spec("work").build())).get(0).id();
            armed.set(true);
            CompletableFuture<Void> cancelling = CompletableFuture.runAsync(() -> cancel(cutOff, id));
            frozen.await();
            List<Claim> claims = new ArrayList<>();
            until(() -> claims.addAll(other.claim(Claims.upTo(1).build())));
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
