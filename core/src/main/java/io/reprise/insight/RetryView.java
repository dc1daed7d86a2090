// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import io.reprise.job.Job;
import java.time.Instant;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The retries of a job in a {@link JobEvent}: the four values that the job itself has after the transition. Immutable.
 *
 * @param retryCount number of retries so far, as {@link Job#retryCount}
 * @param maxRetries most retries that the policy allows, as {@link Job#maxRetries}; null if unlimited
 * @param isRetryable whether another attempt is left, as {@link Job#isRetryable}
 * @param nextRetryAt when the next retry is due; null unless the job waits for one
 * @since 0.1.0
 */
public record RetryView(
        int retryCount,
        @Nullable Integer maxRetries,
        boolean isRetryable,
        @Nullable Instant nextRetryAt) {

    /** Returns the values of a job as it is. */
    public static RetryView of(Job job) {
        return new RetryView(job.retryCount(), orNull(job.maxRetries()), job.isRetryable(), job.nextRetryAt());
    }

    /**
     * Returns the values of a job after a transition that the job does not show yet.
     *
     * @param attempts counted attempts after the transition
     * @param over whether the job has ended, and can only be put back by a person
     * @param barred whether no further attempt can cure it
     */
    public static RetryView after(Job job, int attempts, boolean over, boolean barred, @Nullable Instant nextRetryAt) {
        OptionalInt most = job.maxAttempts();
        boolean left = most.isEmpty() || attempts < most.getAsInt();
        return new RetryView(
                over ? Math.max(0, attempts - 1) : attempts,
                most.isEmpty() ? null : (Integer) (most.getAsInt() - 1),
                left && !barred,
                nextRetryAt);
    }

    private static @Nullable Integer orNull(OptionalInt number) {
        return number.isPresent() ? number.getAsInt() : null;
    }
}
