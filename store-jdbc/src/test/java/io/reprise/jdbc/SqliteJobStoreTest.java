// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.store.JobStore;
import io.reprise.testkit.contract.JobStoreContract;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

class SqliteJobStoreTest implements JobStoreContract {

    @TempDir
    Path directory;

    @AutoClose
    private JdbcJobStore store;

    @BeforeEach
    void open() {
        store = JdbcJobStore.sqlite(directory.resolve("jobs.db"));
        store.prepare();
    }

    @Override
    public JobStore store() {
        return store;
    }

    @Override
    public OpenTransaction begin() {
        return new CallerTransaction(Sqlite.connection(directory.resolve("jobs.db")));
    }

    @Override
    public boolean writesBesideTransactions() {
        return false;
    }
}
