// SPDX-License-Identifier: Apache-2.0
package io.reprise.settings;

import io.reprise.job.JobSpec;
import io.reprise.retry.RetryPolicy;
import io.reprise.text.Bounds;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Upper limits that an operator sets, whatever jobs and policies ask for. What is null has no ceiling here. Immutable.
 *
 * @param maxAttempts attempts of a job at most, 1 to 1,000,000; {@code unlimited} obeys it. Attempts that a person grants
 *     come on top
 * @param deadline longest deadline of a policy, 1 ms to 36,500 days; a policy without a deadline obeys it
 * @param payloadBytes largest payload that is enqueued, in bytes as stored; 1 to 1 MiB
 * @param queueDepth pending and running jobs that a queue holds at most, 1 to 100,000,000
 * @since 0.1.0
 */
public record Ceilings(
        @Nullable Integer maxAttempts,
        @Nullable Duration deadline,
        @Nullable Integer payloadBytes,
        @Nullable Integer queueDepth) {

    /** Sets no ceiling. */
    public static final Ceilings NONE = new Ceilings(null, null, null, null);

    private static final Duration SHORTEST = Duration.ofMillis(1);
    private static final int DEEPEST = 100_000_000;

    /**
     * Checks all values.
     *
     * @throws IllegalArgumentException if a value is outside its bounds
     */
    public Ceilings {
        if (maxAttempts != null) {
            Bounds.integer("ceilings.maxAttempts", maxAttempts, 1, Bounds.MAX_ATTEMPTS);
        }
        if (deadline != null && (deadline.compareTo(SHORTEST) < 0 || deadline.compareTo(JobSpec.MAX_DELAY) > 0)) {
            throw Bounds.refused("ceilings.deadline", deadline, SHORTEST + " to " + JobSpec.MAX_DELAY);
        }
        if (payloadBytes != null) {
            Bounds.integer("ceilings.payloadBytes", payloadBytes, 1, JobSpec.MAX_PAYLOAD_BYTES);
        }
        if (queueDepth != null) {
            Bounds.integer("ceilings.queueDepth", queueDepth, 1, DEEPEST);
        }
    }

    /** Joins these ceilings with those below, one by one. */
    public Ceilings orElse(Ceilings below) {
        return new Ceilings(
                maxAttempts == null ? below.maxAttempts : maxAttempts,
                deadline == null ? below.deadline : deadline,
                payloadBytes == null ? below.payloadBytes : payloadBytes,
                queueDepth == null ? below.queueDepth : queueDepth);
    }

    /** Returns a complete policy within these ceilings. */
    public RetryPolicy applyTo(RetryPolicy complete) {
        return maxAttempts == null && deadline == null ? complete : complete.within(maxAttempts, deadline);
    }
}
