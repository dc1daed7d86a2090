// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobType;
import io.reprise.PayloadType;
import io.reprise.Reprise;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import java.time.Duration;
import java.util.List;

/** A type says what all of its jobs have in common, so that no caller forgets it. A handler enqueues other jobs. */
public final class JobTypes {

    record Line(String article, int count) {}

    // snippet:type
    private static final JobType<List<Line>> BILL = JobType.of("bill", new PayloadType<List<Line>>() {})
            .queue("payments")
            .resource("acquirer")
            .timeout(Duration.ofSeconds(30))
            .idempotent();
    // end

    private static final JobType<String> RECEIPT = JobType.of("receipt", String.class);

    private JobTypes() {}

    public static void main(String[] args) {
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                // snippet:enqueue
                .handle(BILL, (lines, job) -> {
                    job.enqueue(RECEIPT.job("bill " + job.id()).idempotencyKey("receipt " + job.id()));
                    job.result(lines.stream().mapToInt(Line::count).sum() + " articles");
                })
                // end
                .start()) {
            List<Line> order = List.of(new Line("pen", 3), new Line("ink", 1));
            JobId first = reprise.enqueue(BILL.job(order));
            String result = reprise.await(first, Example.SOON).result(String.class);
            Example.check("4 articles".equals(result), "the handler got a list of lines");
            Example.check(first.equals(reprise.enqueue(BILL.job(order))), "an equal payload is the first job");
            Job bill = reprise.find(first).orElseThrow();
            Example.check(bill.queue().equals("payments"), "the queue is that of the type");
            reprise.stopWorker();
            JobId later = reprise.enqueue(RECEIPT.job("by hand"));
            Example.check(
                    reprise.find(later).orElseThrow().state() == JobState.PENDING,
                    "without a worker, jobs are still enqueued");
        }
    }
}
