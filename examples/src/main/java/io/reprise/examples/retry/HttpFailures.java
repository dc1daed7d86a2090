// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.retry;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.failure.FailureClass;
import io.reprise.failure.FailureDetails;
import io.reprise.job.Attempt;
import io.reprise.job.JobId;
import io.reprise.retry.Decision;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.Objects;

/** An exception can tell its HTTP status, an error code and a Retry-After; the default rules know what they mean. */
public final class HttpFailures {

    // snippet:details
    static final class HttpError extends Exception implements FailureDetails {
        private static final long serialVersionUID = 1L;
        private final int status;

        HttpError(int status) {
            super("HTTP " + status);
            this.status = status;
        }

        @Override
        public Integer httpStatus() {
            return status;
        }
    }
    // end

    private static final JobType<Integer> CALL = JobType.of("call", Integer.class)
            .retry(RetryPolicy.fixed(Duration.ofMillis(10)).maxAttempts(2));

    private HttpFailures() {}

    public static void main(String[] args) {
        try (Reprise reprise = Reprise.builder()
                .store(Example.store())
                .handle(CALL, (status, job) -> {
                    throw new IllegalStateException("wrapped by a framework", new HttpError(status));
                })
                .start()) {
            expect(reprise, 404, FailureClass.PERMANENT);
            expect(reprise, 429, FailureClass.THROTTLED);
            expect(reprise, 503, FailureClass.DEPENDENCY_DOWN);
        }
    }

    private static void expect(Reprise reprise, int status, FailureClass wanted) {
        JobId id = reprise.enqueue(CALL.job(status));
        Example.say("HTTP %d: %s", status, reprise.await(id, Example.SOON));
        Attempt first = reprise.attempts(id).get(0);
        Decision decision = Objects.requireNonNull(first.decision());
        Example.check(decision.failureClass() == wanted, wanted + ", found by rule " + decision.rule());
    }
}
