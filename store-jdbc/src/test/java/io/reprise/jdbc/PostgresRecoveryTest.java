// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.store.JobStore;
import io.reprise.testkit.TestRun;
import io.reprise.testkit.contract.RecoveryContract;
import org.junit.jupiter.api.AutoClose;

class PostgresRecoveryTest implements RecoveryContract {

    @AutoClose
    private final Postgres postgres = new Postgres();

    @Override
    public JobStore store() {
        return postgres.store();
    }

    @Override
    public int jobs() {
        return TestRun.size(4_000, 20_000);
    }
}
