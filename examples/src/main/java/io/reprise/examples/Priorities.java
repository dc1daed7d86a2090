// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.job.JobId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Higher priority runs first, from -9 to 9; among equals, what was due first. */
public final class Priorities {

    private static final JobType<String> PRINT = JobType.of("print", String.class);

    private Priorities() {}

    public static void main(String[] args) {
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .concurrency(1)
                .handle(PRINT, (page, job) -> order.add(page))
                .start()) {
            // snippet:priority
            List<JobId> ids = reprise.enqueueAll(List.of(
                    PRINT.job("newsletter").priority(-5),
                    PRINT.job("first invoice"),
                    PRINT.job("second invoice"),
                    PRINT.job("alarm").priority(9)));
            // end
            ids.forEach(id -> reprise.await(id, Example.SOON));
        }
        Example.say("They ran in this order: %s", order);
        Example.check(
                order.equals(List.of("alarm", "first invoice", "second invoice", "newsletter")),
                "by priority, then by due time");
    }
}
