// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.store.Claim;
import io.reprise.store.JobStore;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The time of a renewal is read before its update. So an update that was held up has an older time than a later one. */
class LateRenewalTest implements StoreFixture {

    @AutoClose
    private final MongoServer server = new MongoServer();

    @Override
    public JobStore store() {
        return server.store();
    }

    @Test
    void a_renewal_that_arrives_late_does_not_shorten_the_lease() {
        add(TestJobs.spec("work"));
        Claim claim = claimOne();
        store().renew("worker-1", List.of(claim.token()), TestClaims.LONG);
        store().renew("worker-1", List.of(claim.token()), Duration.ofMillis(1));
        awaitNextInstant();
        assertThat(store().takeOver("worker-2", TestClaims.LONG, 10)).isEmpty();
    }
}
