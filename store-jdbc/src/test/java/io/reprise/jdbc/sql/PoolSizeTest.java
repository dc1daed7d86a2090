// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** The number of connections of a pool, changed while it is in use. */
class PoolSizeTest {

    private static HikariDataSource three() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:sqlite::memory:");
        config.setMaximumPoolSize(3);
        config.setMinimumIdle(1);
        return new HikariDataSource(config);
    }

    private static List<Pool.Loan> take(Pool pool, int connections) throws SQLException {
        List<Pool.Loan> taken = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            taken.add(pool.take(1));
        }
        return taken;
    }

    private static void giveBack(List<Pool.Loan> taken) throws SQLException {
        for (Pool.Loan loan : taken) {
            loan.close();
        }
    }

    private static void await(BooleanSupplier condition) {
        for (int looks = 0; looks < 6_000 && !condition.getAsBoolean(); looks++) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
        assertThat(condition.getAsBoolean()).isTrue();
    }

    @Test
    void a_pool_grows_and_shrinks_while_connections_are_in_use() throws Exception {
        HikariDataSource source = three();
        ExecutorService other = Executors.newSingleThreadExecutor();
        try (Pool pool = Pool.own(source)) {
            List<Pool.Loan> taken = take(pool, 3);
            pool.resize(5);
            taken.addAll(take(pool, 2));
            pool.resize(2);
            for (Pool.Loan loan : taken) {
                assertThat(loan.connection().isValid(1))
                        .as("a connection in use stays")
                        .isTrue();
            }
            giveBack(taken);
            await(() -> source.getHikariPoolMXBean().getTotalConnections() <= 2);
            List<Pool.Loan> two = take(pool, 2);
            Future<Pool.Loan> third = other.submit(() -> pool.take(1));
            await(() -> source.getHikariPoolMXBean().getThreadsAwaitingConnection() == 1);
            assertThat(source.getHikariPoolMXBean().getTotalConnections()).isEqualTo(2);
            two.remove(0).close();
            two.add(third.get(1, TimeUnit.MINUTES));
            pool.resize(null);
            two.addAll(take(pool, 1));
            assertThat(source.getMaximumPoolSize()).as("as at the start").isEqualTo(3);
            giveBack(two);
        } finally {
            other.shutdownNow();
        }
    }

    @Test
    void a_pool_of_the_application_stays_as_it_is() throws SQLException {
        try (HikariDataSource source = three()) {
            Pool pool = Pool.borrowed(source);
            pool.resize(2);
            assertThat(source.getMaximumPoolSize()).isEqualTo(3);
            giveBack(take(pool, 3));
        }
    }
}
