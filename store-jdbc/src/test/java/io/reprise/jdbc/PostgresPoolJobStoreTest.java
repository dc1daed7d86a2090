// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.reprise.store.JobStore;
import io.reprise.testkit.Slow;
import io.reprise.testkit.contract.JobStoreContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** The contract on the pool of an application that has autocommit off; {@link BorrowedPoolTest} is the quick test. */
@Slow
class PostgresPoolJobStoreTest implements JobStoreContract {

    private static Postgres postgres;
    private static HikariDataSource pool;
    private static JdbcJobStore store;

    @BeforeAll
    static void open() {
        postgres = new Postgres();
        HikariConfig config = new HikariConfig();
        config.setDataSource(postgres.source());
        config.setAutoCommit(false);
        pool = new HikariDataSource(config);
        store = JdbcJobStore.builder().pooled(pool);
    }

    @AfterAll
    static void close() {
        store.close();
        pool.close();
        postgres.close();
    }

    @BeforeEach
    void empty() {
        postgres.empty();
    }

    @Override
    public JobStore store() {
        return store;
    }

    @Override
    public OpenTransaction begin() {
        return new CallerTransaction(postgres.connection());
    }
}
