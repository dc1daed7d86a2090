// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.retry;

import io.reprise.examples.Example;
import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPlan;
import io.reprise.retry.RetryPolicy;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;

/** A policy for each kind of work: a call to an API, a database, a file, a batch, mail. */
public final class ChoosingPolicies {

    // snippet:api
    static final RetryPolicy API = RetryPolicy.exponential(Duration.ofSeconds(2))
            .cap(Duration.ofMinutes(15))
            .maxAttempts(15);
    // end
    // snippet:database
    static final RetryPolicy DATABASE = RetryPolicy.exponential(Duration.ofMillis(100))
            .cap(Duration.ofSeconds(5))
            .maxAttempts(6);
    // end
    // snippet:file
    static final RetryPolicy FILE =
            RetryPolicy.exponential(Duration.ofSeconds(1)).maxAttempts(3).neverRetryOn(NoSuchFileException.class);
    // end
    // snippet:batch
    static final RetryPolicy BATCH = RetryPolicy.exponential(Duration.ofMinutes(1))
            .factor(3)
            .jitter(Jitter.equal())
            .maxAttempts(5);
    // end
    // snippet:mail
    static final RetryPolicy MAIL = RetryPolicy.table(
                    Duration.ofMinutes(1), Duration.ofMinutes(30), Duration.ofHours(2), Duration.ofHours(12))
            .jitter(Jitter.proportional(0.2))
            .maxAttempts(5)
            .noCap();
    // end

    private ChoosingPolicies() {}

    public static void main(String[] args) {
        for (RetryPolicy policy : new RetryPolicy[] {API, DATABASE, FILE, BATCH, MAIL}) {
            Example.check(RetryPlan.of(policy, 4).warnings().isEmpty(), "no warning about " + policy.toJson());
        }
        FailureClass missing =
                FILE.classify(Failure.of(new NoSuchFileException("a.csv"))).failureClass();
        Example.check(missing == FailureClass.PERMANENT, "a file that is not there is not retried");
        FailureClass full =
                FILE.classify(Failure.of(new IOException("disk full"))).failureClass();
        Example.check(full == FailureClass.TRANSIENT, "a full disk is");
    }
}
