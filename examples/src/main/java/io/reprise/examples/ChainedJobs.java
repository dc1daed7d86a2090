// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A chain: the next job is stored with the request, and enqueued with the outcome. */
public final class ChainedJobs {

    private static final JobType<String> SHIP = JobType.of("ship", String.class);
    private static final JobType<String> MAIL = JobType.of("mail", String.class);
    private static final JobType<String> REFUND = JobType.of("refund", String.class);

    private ChainedJobs() {}

    public static void main(String[] args) {
        ManualClock clock = new ManualClock();
        List<JobId> shipped = new ArrayList<>();
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .handle(
                                SHIP,
                                (order, job) -> Example.check(order.equals("order 1"), "only order 1 is in stock"))
                        .handle(
                                MAIL,
                                (order, job) -> shipped.add(job.predecessor().orElseThrow()))
                        .handle(REFUND, (order, job) -> {}),
                clock)) {
            Reprise reprise = worker.reprise();
            String order = "order 1";
            // snippet:chain
            JobId id = reprise.enqueue(SHIP.job(order).then(MAIL.job(order)).whenDead(REFUND.job(order)));
            // end
            reprise.enqueue(SHIP.job("order 2").whenDead(REFUND.job("order 2")));
            worker.advance(Duration.ofDays(2));
            Example.check(shipped.equals(List.of(id)), "the mail follows the shipping");
            Example.check(
                    reprise.find(JobQuery.all().type("refund").state(JobState.SUCCEEDED))
                                    .items()
                                    .size()
                            == 1,
                    "one order is refunded");
        }
    }
}
