// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.operations;

import io.reprise.JobType;
import io.reprise.Operations;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.job.Cancellation;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** A pending job is cancelled at once; a running one is told to stop, by interrupt and by its context. */
public final class CancelJobs {

    private static final JobType<String> EXPORT = JobType.of("export", String.class);

    private CancelJobs() {}

    public static void main(String[] args) throws InterruptedException {
        CountDownLatch running = new CountDownLatch(1);
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                // snippet:checkpoint
                .handle(EXPORT, (what, job) -> {
                    for (int page = 1; page <= 1000; page++) {
                        job.checkpoint(); // ends the run if it was told to stop
                        running.countDown();
                        Thread.sleep(20);
                    }
                })
                // end
                .start()) {
            Operations ada = reprise.as("ada", "wrong month");
            JobId pending = reprise.enqueue(EXPORT.job("May").after(Duration.ofHours(1)));
            Example.check(ada.cancel(pending) == Cancellation.DONE, "the pending job is CANCELLED at once");

            JobId started = reprise.enqueue(EXPORT.job("June"));
            running.await();
            Example.check(ada.cancel(started) == Cancellation.REQUESTED, "the running one is told to stop");
            Example.check(reprise.await(started, Example.SOON).state() == JobState.CANCELLED, "and is CANCELLED soon");
            Example.check(ada.cancel(started) == Cancellation.TOO_LATE, "a job that has ended stays as it is");
            reprise.audit(started).forEach(entry -> Example.say("Audit: %s by %s", entry.action(), entry.note()));
        }
    }
}
