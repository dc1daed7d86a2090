// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobType;
import io.reprise.Outcome;
import io.reprise.Reprise;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.NotFinishedException;
import io.reprise.job.Progress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** A handler reports how far it is, and gives a result that await returns once the job has ended. */
public final class ProgressAndResult {

    record Sum(int upTo) {}

    record Answer(long value) {}

    private static final JobType<Sum> ADD = JobType.of("add", Sum.class);

    private ProgressAndResult() {}

    public static void main(String[] args) throws InterruptedException {
        CountDownLatch halfway = new CountDownLatch(1);
        CountDownLatch seen = new CountDownLatch(1);
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                // snippet:progress
                .handle(ADD, (sum, job) -> {
                    job.progress(50, "half of " + sum.upTo());
                    halfway.countDown();
                    seen.await();
                    job.result(new Answer(sum.upTo() * (sum.upTo() + 1L) / 2));
                })
                // end
                .start()) {
            JobId id = reprise.enqueue(ADD.job(new Sum(100)));
            halfway.await();
            Job job = reprise.find(id).orElseThrow();
            Example.say("While it runs: %s, %s", job.state(), job.status().progress());
            Example.check(new Progress(50, "half of 100").equals(job.status().progress()), "others see its progress");
            try {
                reprise.await(id, Duration.ofMillis(50));
                throw new IllegalStateException("await returned before the job had ended");
            } catch (NotFinishedException e) {
                Example.say("%s", e.getMessage());
            }
            seen.countDown();
            Outcome outcome = reprise.await(id, Example.SOON);
            Example.check(
                    new Answer(5050).equals(outcome.result(Answer.class)),
                    "the result is " + outcome.job().status().result());
        }
    }
}
