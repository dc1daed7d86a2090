// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.insight.Activity;
import io.reprise.internal.Race;
import io.reprise.internal.Samples;
import io.reprise.job.Job;
import org.junit.jupiter.api.Test;

/** What is counted while the Reporter writes, and fails to write, is counted once. */
class RunTotalsRaceTest {

    private static final Job JOB = Samples.job(1);

    @Test
    void nothing_counted_is_lost_or_counted_twice() {
        Race.inManyOrders(() -> {
            RunTotals totals = new RunTotals();
            Race.together(() -> totals.expired(JOB), () -> totals.putBack(totals.take()), () -> totals.expired(JOB));
            long dead = 0;
            for (Activity activity : totals.take().activity()) {
                dead += activity.subject() == Activity.Subject.TYPE
                        ? activity.counts().dead()
                        : 0;
            }
            Race.require(dead == 2, "counted " + dead);
        });
    }
}
