// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.retry;

import io.reprise.examples.Example;
import io.reprise.examples.retry.HttpFailures.HttpError;
import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.failure.Rule;
import io.reprise.retry.RetryPolicy;
import java.net.SocketTimeoutException;
import java.time.Duration;

/** A policy for money: retries only failures after which nothing can have been charged. */
public final class PaymentPolicy {

    // snippet:money
    static final RetryPolicy MONEY = RetryPolicy.exponential(Duration.ofSeconds(10))
            .factor(3)
            .maxAttempts(8)
            .rule(Rule.ofStatuses("busy", FailureClass.THROTTLED, 429))
            .rule(Rule.ofStatuses("down", FailureClass.DEPENDENCY_DOWN, 503))
            .onlyTheseRules()
            .unclassified(FailureClass.PERMANENT)
            .retryTimeouts(false);
    // end

    private PaymentPolicy() {}

    public static void main(String[] args) {
        expect(new HttpError(429), FailureClass.THROTTLED);
        expect(new HttpError(503), FailureClass.DEPENDENCY_DOWN);
        expect(new HttpError(500), FailureClass.PERMANENT);
        expect(new SocketTimeoutException("no answer"), FailureClass.PERMANENT);
    }

    private static void expect(Exception error, FailureClass wanted) {
        FailureClass found = MONEY.classify(Failure.of(error)).failureClass();
        Example.check(found == wanted, error.getMessage() + " is " + found);
    }
}
