// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.failure.Classification;
import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.failure.NonRetryable;
import io.reprise.failure.Rule;
import java.util.Locale;

/**
 * Finds the class of a failure: the class that was given, then {@link NonRetryable}, then the rules in order, then the
 * fallback.
 */
final class Classifier {

    /** Name of the rule for exceptions that are marked as {@link NonRetryable}. */
    static final String MARKED = "non-retryable";

    private static final String MARKER = NonRetryable.class.getName();

    private Classifier() {}

    static Classification classify(RetryPolicy policy, Failure failure) {
        FailureClass given = failure.given();
        if (given != null) {
            return new Classification(given, nameOf(given));
        }
        for (Failure.Link link : failure.chain()) {
            if (link.types().contains(MARKER)) {
                return new Classification(FailureClass.PERMANENT, MARKED);
            }
        }
        for (Rule rule : policy.rules()) {
            if (rule.matches(failure)) {
                return new Classification(rule.failureClass(), rule.name());
            }
        }
        return new Classification(policy.unclassified().orElse(FailureClass.TRANSIENT), "unclassified");
    }

    /** Classes that only the engine can observe have their own name. The handler gave any other class. */
    private static String nameOf(FailureClass given) {
        return switch (given) {
            case TIMEOUT, LOST, INTERRUPTED, UNREADABLE -> given.name().toLowerCase(Locale.ROOT);
            default -> "handler";
        };
    }
}
