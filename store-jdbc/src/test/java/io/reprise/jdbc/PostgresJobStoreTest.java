// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.store.JobStore;
import io.reprise.testkit.contract.JobStoreContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** The contract for a role that may use the tables and nothing else. */
class PostgresJobStoreTest implements JobStoreContract {

    private static Postgres owner;
    private static PostgresRole role;
    private static JdbcJobStore store;

    @BeforeAll
    static void open() {
        owner = new Postgres();
        role = new PostgresRole(owner);
        store = JdbcJobStore.open(role.url());
        store.prepare();
    }

    @AfterAll
    static void close() {
        store.close();
        owner.close();
    }

    @BeforeEach
    void empty() {
        owner.empty();
    }

    @Override
    public JobStore store() {
        return store;
    }

    @Override
    public OpenTransaction begin() {
        return new CallerTransaction(role.connection());
    }
}
