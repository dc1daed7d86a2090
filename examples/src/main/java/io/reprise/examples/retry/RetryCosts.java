// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.retry;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.insight.Costs;
import io.reprise.job.JobId;
import io.reprise.retry.RetryPolicy;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.time.Duration;

/** The cost and the gain of retries: time is counted for every run, money if the handler reports it. */
public final class RetryCosts {

    private static final JobType<String> DRAW = JobType.of("draw", String.class)
            .retry(RetryPolicy.exponential(Duration.ofSeconds(1)).maxAttempts(3));

    private RetryCosts() {}

    public static void main(String[] args) {
        ManualClock clock = new ManualClock();
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder().store(new InMemoryJobStore(clock)).handle(DRAW, (subject, job) -> {
                    clock.advance(Duration.ofSeconds(2));
                    // snippet:report
                    job.cost(0.04, "usd");
                    job.cost(1_200, "tokens");
                    // end
                    if (subject.equals("dragon") || job.attempt() == 1) {
                        throw new IOException("the model is overloaded");
                    }
                }),
                clock)) {
            Reprise reprise = worker.reprise();
            for (String subject : new String[] {"cat", "dog", "dragon"}) {
                JobId id = reprise.enqueue(DRAW.job(subject).resource("artist"));
                reprise.await(id, Duration.ofMinutes(5));
            }
            worker.advance(Duration.ofSeconds(20));
            // snippet:costs
            Costs costs = reprise.costs(Duration.ofDays(7)).type("draw");
            Example.say("%s", costs.sentence());
            Example.say(
                    "Retries cost %.2f usd, %.2f of it for nothing",
                    costs.retryCost("usd"), costs.wastedRetryCost("usd"));
            // end
            Example.check(costs.retries() == 4 && costs.saved() == 2, "4 retries saved 2 of 3 pictures");
            Example.check(costs.retryTime().equals(Duration.ofSeconds(8)), "they took " + costs.retryTime());
            Example.check(
                    Math.abs(costs.wastedRetryCost("usd") - 0.08) < 1e-9, "the dragon cost two retries for nothing");
        }
    }
}
