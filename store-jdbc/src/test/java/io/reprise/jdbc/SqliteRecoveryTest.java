// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.store.JobStore;
import io.reprise.testkit.Slow;
import io.reprise.testkit.contract.RecoveryContract;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

@Slow
class SqliteRecoveryTest implements RecoveryContract {

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
}
