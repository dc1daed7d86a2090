// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.retry;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.ClaimRequest.Demand;
import io.reprise.store.JobStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** A worker that dies loses its lease: its jobs run elsewhere, which is a loss and not a spent attempt. */
public final class LostWorker {

    private static final JobType<String> WORK = JobType.of("work", String.class)
            .retry(RetryPolicy.fixed(Duration.ofMillis(50)).maxAttempts(1));

    private LostWorker() {}

    public static void main(String[] args) {
        Path file = Example.temporaryFile();
        AtomicLong token = new AtomicLong();
        JobId id;
        try (Reprise reprise =
                Reprise.builder().store(JdbcJobStore.sqlite(file)).start()) {
            id = reprise.enqueue(WORK.job("something"));
        }
        Claim lost;
        try (JobStore store = JdbcJobStore.sqlite(file)) {
            // What a worker does first; this one then falls silent, as if it had been killed.
            lost = store.claim(new ClaimRequest(
                            "dead", Duration.ofMillis(500), 1, List.of(new Demand("default", 1)), 0.2, true))
                    .get(0);
        }
        Example.say("Worker 'dead' holds job %s under token %d and is gone", id, lost.token());
        try (Reprise reprise = Reprise.builder()
                .store(JdbcJobStore.sqlite(file))
                .handle(WORK, (what, job) -> token.set(job.token()))
                .start()) {
            Job job = reprise.await(id, Example.SOON).job();
            reprise.attempts(id).forEach(run -> Example.say("%s on %s", run.ending(), run.worker()));
            Example.check(
                    job.counts().losses() == 1 && job.attempts() == 1, "one loss; the only attempt was not spent");
            Example.check(token.get() > lost.token(), "the fencing token has grown, so a zombie can be told apart");
        }
    }
}
