// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobId;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.retry.FailReason;
import io.reprise.retry.Prediction;
import io.reprise.retry.RetryPolicy;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** The fleet remembers how often retries of an error succeeded, says so, and may give up on what is hopeless. */
public final class Predictions {

    // snippet:giveup
    private static final JobType<String> PRINT = JobType.of("print", String.class)
            .retry(RetryPolicy.exponential(Duration.ofSeconds(1)).maxAttempts(5).giveUpBelow(0.02, 100));
    // end

    private Predictions() {}

    private static List<JobId> print(InlineWorker worker, String paper, int sheets) {
        Stream<JobId> jobs = Stream.generate(() -> worker.reprise().enqueue(PRINT.job(paper)));
        List<JobId> ids = jobs.limit(sheets).toList();
        worker.advance(Duration.ofMinutes(5));
        return ids;
    }

    public static void main(String[] args) {
        ManualClock clock = new ManualClock();
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder().store(new InMemoryJobStore(clock)).handle(PRINT, (paper, job) -> {
                    if (paper.equals("none") || job.attempt() == 1) {
                        throw new IOException(paper.equals("none") ? "no paper" : "still warming up");
                    }
                }),
                clock)) {
            print(worker, "A4", 60);
            print(worker, "none", 60);
            Reprise reprise = worker.reprise();
            reprise.evidence().forEach(row -> Example.say("after attempt %d: %s", row.attempt(), row.prediction()));
            JobId warm = print(worker, "A4", 1).get(0);
            // snippet:prediction
            Prediction chance = reprise.attempts(warm).get(0).decision().prediction();
            // end
            Example.check(
                    Objects.requireNonNull(chance).low() > 0.9, "a printer that warms up is worth a retry: " + chance);
            long hopeless = print(worker, "none", 20).stream()
                    .filter(id -> reprise.find(id).orElseThrow().failReason() == FailReason.HOPELESS)
                    .count();
            Example.check(hopeless > 10, hopeless + " of 20 jobs without paper were given up; a few canaries were not");
        }
    }
}
