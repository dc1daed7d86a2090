// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.retry;

import io.reprise.JobType;
import io.reprise.ManualRetry;
import io.reprise.Operations;
import io.reprise.Outcome;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.job.JobId;
import io.reprise.job.RefusedException;
import io.reprise.job.RefusedException.Code;
import io.reprise.retry.RetryPolicy;
import java.io.IOException;
import java.time.Duration;

/** Retrying a dead letter by hand: more attempts granted, counters reset, or forced against the policy's judgement. */
public final class ManualRetries {

    private static final JobType<String> CALL = JobType.of("call", String.class)
            .retry(RetryPolicy.fixed(Duration.ofMillis(10)).maxAttempts(2));

    private ManualRetries() {}

    public static void main(String[] args) {
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .handle(CALL, (error, job) -> {
                    throw error.equals("io") ? new IOException("no route") : new IllegalArgumentException("no number");
                })
                .start()) {
            Operations ada = reprise.as("ada", "the route is back");
            JobId spent = reprise.enqueue(CALL.job("io"));
            reprise.await(spent, Example.SOON);
            Example.check(refusal(ada, spent) == Code.MAX_RETRIES_EXCEEDED, "an exhausted job is not simply retried");
            ada.retry(spent, ManualRetry.NOW.granting(1));
            Outcome granted = reprise.await(spent, Example.SOON);
            Example.check(granted.job().attempts() == 3, "granting one: 2 attempts + 1, then dead again");
            ada.retry(spent, ManualRetry.NOW.resettingCounters().withBackoff());
            Outcome reset = reprise.await(spent, Example.SOON);
            Example.check(reset.job().attempts() == 2, "reset: a whole new set of attempts, after the policy's delay");

            JobId permanent = reprise.enqueue(CALL.job("bug"));
            reprise.await(permanent, Example.SOON);
            Example.check(refusal(ada, permanent) == Code.NOT_RETRYABLE, "a permanent failure is not retried");
            ada.retry(permanent, ManualRetry.NOW.forced());
            Example.check(reprise.await(permanent, Example.SOON).job().attempts() == 2, "unless forced");
            Example.check(reprise.audit(spent).size() == 2, "each retry by hand is on record");
        }
    }

    private static Code refusal(Operations operations, JobId id) {
        try {
            operations.retry(id, ManualRetry.NOW);
            throw new IllegalStateException("job " + id + " was retried");
        } catch (RefusedException e) {
            Example.say("Refused: %s", e.getMessage());
            return e.code();
        }
    }
}
