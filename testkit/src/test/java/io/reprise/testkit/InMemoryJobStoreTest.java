// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
import io.reprise.testkit.contract.JobStoreContract;
import java.time.Duration;

class InMemoryJobStoreTest implements JobStoreContract {

    private final ManualClock clock = new ManualClock();
    private final JobStore store = new InMemoryJobStore(clock);

    @Override
    public JobStore store() {
        return store;
    }

    @Override
    public void tick() {
        clock.advance(Duration.ofMillis(1));
    }
}
