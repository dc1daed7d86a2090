// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testkit.contract.JobStoreContract;

/** The contract on a clock it cannot move. */
class InMemoryJobStoreOnSystemClockTest implements JobStoreContract {

    private final JobStore store = new InMemoryJobStore();

    @Override
    public JobStore store() {
        return store;
    }
}
