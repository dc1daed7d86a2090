// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.store.JobStore;
import io.reprise.testkit.Slow;
import io.reprise.testkit.contract.RecoveryContract;
import org.junit.jupiter.api.AutoClose;

/** In memory, where a server exists too: that one may be too slow for thousands of jobs. */
@Slow
class MongoRecoveryTest implements RecoveryContract {

    @AutoClose
    private final MongoServer server = new MongoServer(null);

    @Override
    public JobStore store() {
        return server.store();
    }

    @Override
    public int jobs() {
        return 4_000;
    }
}
