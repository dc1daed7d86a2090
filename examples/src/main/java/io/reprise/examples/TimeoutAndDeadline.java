// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.Outcome;
import io.reprise.Reprise;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import java.io.IOException;
import java.time.Duration;

/** A timeout limits one run; a deadline limits the job with all its retries. */
public final class TimeoutAndDeadline {

    private static final JobType<String> FETCH = JobType.of("fetch", String.class);
    private static final RetryPolicy QUICK = RetryPolicy.fixed(Duration.ofMillis(20));

    private TimeoutAndDeadline() {}

    public static void main(String[] args) {
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .handle(FETCH, TimeoutAndDeadline::fetch)
                .start()) {
            // snippet:limits
            var retried = FETCH.job("hangs").timeout(Duration.ofMillis(100)).retry(QUICK.maxAttempts(3));
            var never = FETCH.job("hangs").timeout(Duration.ofMillis(100)).retry(QUICK.retryTimeouts(false));
            var deadline = FETCH.job("fails").retry(QUICK.unlimited().deadline(Duration.ofMillis(300)));
            // end
            Outcome often = reprise.await(reprise.enqueue(retried), Example.SOON);
            Example.say("%s after %d attempts", often, often.job().attempts());
            Example.check(often.job().attempts() == 3, "a run that is too long is interrupted and counts as a failure");

            Outcome once = reprise.await(reprise.enqueue(never), Example.SOON);
            Example.check(once.job().attempts() == 1, "unless the policy does not retry timeouts");

            Outcome late = reprise.await(reprise.enqueue(deadline), Example.SOON);
            Example.say("%s after %d attempts", late, late.job().attempts());
            Example.check(late.failReason() == FailReason.DEADLINE, "unlimited retries end at the deadline");
        }
    }

    private static void fetch(String what, JobContext job) throws Exception {
        if (what.equals("hangs")) {
            Thread.sleep(60_000);
        }
        throw new IOException("no answer");
    }
}
