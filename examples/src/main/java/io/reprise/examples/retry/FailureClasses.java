// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.retry;

import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.failure.FailureClass;
import io.reprise.failure.NonRetryable;
import io.reprise.job.Attempt;
import io.reprise.job.JobId;
import io.reprise.retry.Decision;
import io.reprise.retry.RetryPolicy;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;

/** The class of a failure comes from a marker on the exception, or from a rule, which is data. */
public final class FailureClasses {

    // snippet:exceptions
    static final class ExpiredCard extends Exception implements NonRetryable {
        private static final long serialVersionUID = 1L;
    }
    // end

    private static final JobType<String> PAY = JobType.of("pay", String.class)
            .retry(RetryPolicy.fixed(Duration.ofMillis(10)).maxAttempts(2).neverRetryOnMessage("insufficient funds"));

    private FailureClasses() {}

    private static void pay(String how, JobContext job) throws Exception {
        switch (how) {
            case "expired" -> throw new IllegalStateException("wrapped by a framework", new ExpiredCard());
            case "broke" -> throw new IOException("Declined: insufficient funds");
            case "cut off" -> throw new IOException("broken pipe");
            default -> throw new NullPointerException("a bug");
        }
    }

    public static void main(String[] args) {
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .handle(PAY, FailureClasses::pay)
                .start()) {
            expect(reprise, "expired", FailureClass.PERMANENT);
            expect(reprise, "broke", FailureClass.PERMANENT);
            expect(reprise, "cut off", FailureClass.TRANSIENT);
            expect(reprise, "bug", FailureClass.PERMANENT);
        }
    }

    private static void expect(Reprise reprise, String how, FailureClass wanted) {
        JobId id = reprise.enqueue(PAY.job(how));
        reprise.await(id, Example.SOON);
        Attempt first = reprise.attempts(id).get(0);
        Decision decision = Objects.requireNonNull(first.decision());
        Example.say("'%s' failed with %s", how, first.failure());
        Example.check(decision.failureClass() == wanted, wanted + ", found by rule " + decision.rule());
    }
}
