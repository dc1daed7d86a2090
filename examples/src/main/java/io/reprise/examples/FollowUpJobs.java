// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.insight.JobEvent;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.testing.InMemoryJobStore;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A job that is stored together with the outcome of another. */
public final class FollowUpJobs {

    private static final JobType<Integer> SHIP = JobType.of("ship", Integer.class);
    private static final JobType<String> TELL = JobType.of("tell", String.class);

    private FollowUpJobs() {}

    // snippet:rule
    private static List<JobRequest<String>> afterShipping(JobEvent.Kind kind, Job job, long token) {
        boolean ended = kind == JobEvent.Kind.SUCCEEDED || kind == JobEvent.Kind.FAILED;
        return ended && job.type().equals("ship") ? List.of(TELL.job("order " + job.id() + " " + kind)) : List.of();
    }
    // end

    public static void main(String[] args) throws InterruptedException {
        BlockingQueue<String> told = new LinkedBlockingQueue<>();
        try (Reprise reprise = Reprise.builder()
                .store(new InMemoryJobStore())
                .handle(SHIP, (order, job) -> {})
                .handle(TELL, (text, job) -> told.add(text))
                .followUps(FollowUpJobs::afterShipping)
                .start()) {
            JobId id = reprise.enqueue(SHIP.job(17));
            String text = told.poll(Example.SOON.toSeconds(), TimeUnit.SECONDS);
            Example.check(
                    ("order " + id + " SUCCEEDED").equals(text), "the follow-up was stored with the outcome, and ran");
        }
    }
}
