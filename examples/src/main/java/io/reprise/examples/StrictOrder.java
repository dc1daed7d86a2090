// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobType;
import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.job.JobId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Several queues served strictly in order: a later one only when the earlier ones are empty. */
public final class StrictOrder {

    private static final JobType<String> WORK = JobType.of("work", String.class);

    private StrictOrder() {}

    public static void main(String[] args) {
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .concurrency(1)
                .queues(Queue.of("alarms"), Queue.of("mail"), Queue.of("reports"))
                .strictOrder()
                .handle(WORK, (queue, job) -> order.add(queue))
                .start()) {
            List<JobId> ids = reprise.enqueueAll(List.of(
                    WORK.job("reports").queue("reports").priority(9),
                    WORK.job("mail").queue("mail"),
                    WORK.job("mail").queue("mail"),
                    WORK.job("alarms").queue("alarms")));
            ids.forEach(id -> reprise.await(id, Example.SOON));
        }
        Example.say("They ran in this order: %s", order);
        Example.check(
                order.equals(List.of("alarms", "mail", "mail", "reports")),
                "by queue; a priority counts only within its queue");
    }
}
