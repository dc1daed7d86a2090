// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.store.JobStore;
import io.reprise.testkit.contract.JobStoreContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

class MariaDbJobStoreTest implements JobStoreContract {

    private static MariaDb mariadb;

    @BeforeAll
    static void open() {
        mariadb = new MariaDb();
    }

    @AfterAll
    static void close() {
        mariadb.close();
    }

    @BeforeEach
    void empty() {
        mariadb.empty();
    }

    @Override
    public JobStore store() {
        return mariadb.store();
    }

    @Override
    public OpenTransaction begin() {
        return new CallerTransaction(mariadb.connection());
    }
}
