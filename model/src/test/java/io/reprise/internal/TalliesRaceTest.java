// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Job;
import io.reprise.store.Activity;
import org.junit.jupiter.api.Test;

/** What is counted while the Reporter writes, and fails to write, is counted once. */
class TalliesRaceTest {

    private static final Job JOB = Samples.job(1);

    @Test
    void nothing_counted_is_lost_or_counted_twice() {
        Race.inManyOrders(() -> {
            Tallies tallies = new Tallies();
            Race.together(
                    () -> tallies.expired(JOB), () -> tallies.putBack(tallies.take()), () -> tallies.expired(JOB));
            long dead = 0;
            for (Activity activity : tallies.take().activity()) {
                dead += activity.dead();
            }
            Race.require(dead == 2, "counted " + dead);
        });
    }
}
