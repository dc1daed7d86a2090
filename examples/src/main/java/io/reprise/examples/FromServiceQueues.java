// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.job.JobId;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;

/** For users of weave, a MongoDB queue, Conduit and Sidekiq: a task of each as a job. */
public final class FromServiceQueues {

    // snippet:weave
    static final JobType<Integer> TRANSFER =
            JobType.of("transfer", Integer.class).retry(RetryPolicy.preset("weave-conservative"));
    // end
    // snippet:mongo
    static final JobType<String> TASK = JobType.of("task", String.class)
            .retry(RetryPolicy.exponential(Duration.ofSeconds(5))
                    .cap(Duration.ofMinutes(30))
                    .failAfterMoreThan(10));
    // end
    // snippet:conduit
    static final JobType<String> VIDEO = JobType.of("video-generation", String.class)
            .retry(RetryPolicy.preset("conduit").base(Duration.ofSeconds(60)).maxRetries(5));
    // end
    // snippet:sidekiq
    static final JobType<Integer> HARD = JobType.of("hard-job", Integer.class)
            .retry(RetryPolicy.exponential(Duration.ofSeconds(15)).maxRetries(5));
    // end

    private FromServiceQueues() {}

    public static void main(String[] args) {
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .handle(TRANSFER, (amount, job) -> Example.say("Transferred %d", amount))
                .handle(TASK, (payload, job) -> Example.say("Did %s", payload))
                .handle(VIDEO, (prompt, job) -> job.result("a video of " + prompt))
                .handle(HARD, (id, job) -> Example.say("Worked hard on %d", id))
                .start()) {
            // snippet:enqueue
            JobId transfer = reprise.enqueue(TRANSFER.job(30).idempotencyKey("transfer-17"));
            JobId task = reprise.enqueue(TASK.job("payload"));
            JobId video = reprise.enqueue(VIDEO.job("a cat").resource("provider-a"));
            JobId hard = reprise.enqueue(HARD.job(17).queue("mail").after(Duration.ofMillis(10)));
            // end
            for (JobId id : new JobId[] {transfer, task, video, hard}) {
                Example.check(reprise.await(id, Example.SOON).succeeded(), "job " + id + " is done");
            }
        }
    }
}
