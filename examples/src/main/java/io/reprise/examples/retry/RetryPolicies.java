// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.retry;

import io.reprise.JobContext;
import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.Outcome;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.retry.FailReason;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;

/** A retry policy per job: how long to wait, how often to try, for which failures. */
public final class RetryPolicies {

    private static final JobType<String> CALL = JobType.of("call", String.class);

    private RetryPolicies() {}

    public static void main(String[] args) {
        // snippet:policy
        RetryPolicy quick = RetryPolicy.exponential(Duration.ofMillis(20))
                .cap(Duration.ofMillis(100))
                .jitter(Jitter.equal())
                .maxAttempts(4);
        RetryPolicy table =
                RetryPolicy.table(Duration.ofMillis(10), Duration.ofMillis(50)).maxRetries(2);
        RetryPolicy onlyConnect = quick.retryOn(ConnectException.class);
        RetryPolicy preset = RetryPolicy.preset("weave-aggressive");
        // end
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .handle(CALL, RetryPolicies::call)
                .start()) {
            expect(reprise, CALL.job("io").retry(quick), 4, FailReason.EXHAUSTED);
            expect(reprise, CALL.job("io").retry(table), 3, FailReason.EXHAUSTED);
            expect(reprise, CALL.job("connect").retry(onlyConnect), 4, FailReason.EXHAUSTED);
            expect(reprise, CALL.job("io").retry(onlyConnect), 1, FailReason.PERMANENT);
            expect(reprise, CALL.job("io").retry(preset), 3, FailReason.EXHAUSTED);
        }
    }

    private static void call(String trouble, JobContext job) throws IOException {
        throw trouble.equals("connect") ? new ConnectException("refused") : new IOException("broken pipe");
    }

    private static void expect(Reprise reprise, JobRequest<?> job, int attempts, FailReason reason) {
        Outcome outcome = reprise.await(reprise.enqueue(job), Example.SOON);
        Example.say("%s after %d attempts", outcome, outcome.job().attempts());
        Example.check(
                outcome.job().attempts() == attempts && outcome.failReason() == reason,
                attempts + " attempts, then " + reason);
    }
}
