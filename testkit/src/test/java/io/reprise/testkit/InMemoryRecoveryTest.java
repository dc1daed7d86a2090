// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testkit.contract.RecoveryContract;

class InMemoryRecoveryTest implements RecoveryContract {

    private final JobStore store = new InMemoryJobStore();

    @Override
    public JobStore store() {
        return store;
    }

    @Override
    public int jobs() {
        return TestRun.size(4_000, 20_000);
    }
}
