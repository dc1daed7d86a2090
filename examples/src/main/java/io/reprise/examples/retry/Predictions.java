// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.retry;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.job.JobId;
import io.reprise.retry.Decision;
import io.reprise.retry.Prediction;
import io.reprise.retry.RetryPolicy;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;

/** The fleet remembers how often retries of an error succeeded, says so, and may give up on what is hopeless. */
public final class Predictions {

    // snippet:giveup
    private static final JobType<String> PRINT = JobType.of("print", String.class)
            .retry(RetryPolicy.exponential(Duration.ofSeconds(1)).maxAttempts(5).giveUpBelow(0.02, 100));
    // end

    private Predictions() {}

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
            Decision decision = print(worker, "A4", 1).get(0);
            // snippet:prediction
            Prediction chance = decision.prediction();
            // end
            Example.check(chance != null && chance.low() > 0.9, "a printer that warms up is retried: " + chance);
            List<Decision> late = print(worker, "none", 20);
            long hopeless =
                    late.stream().filter(Decision.Fail.class::isInstance).count();
            Example.check(
                    hopeless > 10, hopeless + " of 20 jobs without paper were given up at once; canaries were not");
        }
    }

    /** The decision after the first attempt of each. */
    private static List<Decision> print(InlineWorker worker, String paper, int sheets) {
        Reprise reprise = worker.reprise();
        List<JobId> ids = reprise.enqueueAll(Collections.nCopies(sheets, PRINT.job(paper)));
        worker.advance(Duration.ofMinutes(5));
        return ids.stream().map(id -> reprise.attempts(id).get(0).decision()).toList();
    }
}
