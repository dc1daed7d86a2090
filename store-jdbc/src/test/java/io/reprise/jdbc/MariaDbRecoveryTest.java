// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.store.JobStore;
import io.reprise.testkit.Slow;
import io.reprise.testkit.contract.RecoveryContract;
import org.junit.jupiter.api.AutoClose;

@Slow
class MariaDbRecoveryTest implements RecoveryContract {

    @AutoClose
    private final MariaDb mariadb = new MariaDb();

    @Override
    public JobStore store() {
        return mariadb.store();
    }
}
