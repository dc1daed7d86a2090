// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.store.JobStore;
import io.reprise.testkit.contract.JobStoreContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

class PostgresJobStoreTest implements JobStoreContract {

    private static Postgres postgres;

    @BeforeAll
    static void open() {
        postgres = new Postgres();
    }

    @AfterAll
    static void close() {
        postgres.close();
    }

    @BeforeEach
    void empty() {
        postgres.empty();
    }

    @Override
    public JobStore store() {
        return postgres.store();
    }

    @Override
    public OpenTransaction begin() {
        return new CallerTransaction(postgres.connection());
    }
}
