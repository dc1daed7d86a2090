// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.fuzz;

import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.retry.AttemptHistory;
import io.reprise.retry.RetryPolicy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.SplittableRandom;

/** Retry policies: read or refused, equal to themselves after JSON, and able to decide. */
public final class PolicyTarget {

    private static final Failure FAILURE = Failure.of(FailureClass.TRANSIENT, "a.B", "too many");

    private PolicyTarget() {}

    public static void fuzzerTestOneInput(byte[] input) {
        RetryPolicy policy;
        try {
            policy = RetryPolicy.fromJson(new String(input, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            return;
        }
        if (!RetryPolicy.fromJson(policy.toJson()).equals(policy)) {
            throw new IllegalStateException("is another after JSON");
        }
        for (int attempts : new int[] {0, 1, 1_000_000}) {
            policy.decide(
                    FAILURE,
                    new AttemptHistory(attempts, 0, Duration.ofSeconds(1), null),
                    null,
                    new SplittableRandom(1));
        }
    }
}
