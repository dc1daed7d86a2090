// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.job.JobSpec;
import io.reprise.text.Bounds;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The way in which a person retries a job by {@link Operations#retry}. In every case the time until the deadline starts
 * again. Immutable: each method returns a copy; start from {@link #NOW}.
 *
 * @param backoff true if the job waits for the delay of the policy; false if it is due at once
 * @param at when the job is due; null if {@code backoff} says when
 * @param grant number of attempts added to the limit of the policy, 0 to {@value #MAX_GRANT}
 * @param reset whether all counters go back to 0
 * @param force whether a job is retried although its failure is permanent or its attempts are spent. One attempt is
 *     granted if none is left
 * @since 0.1.0
 */
public record ManualRetry(boolean backoff, @Nullable Instant at, int grant, boolean reset, boolean force) {

    /** The greatest number of attempts that one retry can grant. */
    public static final int MAX_GRANT = 1_000_000;

    /** Due at once, with the attempts that are left. */
    public static final ManualRetry NOW = new ManualRetry(false, null, 0, false, false);

    /**
     * Checks the number of attempts and the time.
     *
     * @throws IllegalArgumentException if {@code grant} is outside its bounds, if {@code at} is after
     *     {@link JobSpec#MAX_DUE}, or if both {@code at} and {@code backoff} are given
     */
    public ManualRetry {
        if (at != null && backoff) {
            throw new IllegalArgumentException("at must not be given together with backoff");
        }
        if (at != null && at.isAfter(JobSpec.MAX_DUE)) {
            throw Bounds.refused("at", at, "at most " + JobSpec.MAX_DUE);
        }
        if (grant < 0 || grant > MAX_GRANT) {
            throw new IllegalArgumentException("grant must be 0 to " + MAX_GRANT + ", not " + grant);
        }
    }

    /** Makes the job wait for the delay that the policy gives after its attempts so far. */
    public ManualRetry withBackoff() {
        return new ManualRetry(true, null, grant, reset, force);
    }

    /**
     * Makes the job wait until this time, by the store's clock. {@link Operations#retry} refuses a time in the past.
     *
     * @throws IllegalArgumentException if {@code time} is after {@link JobSpec#MAX_DUE}
     */
    public ManualRetry at(Instant time) {
        return new ManualRetry(false, time, grant, reset, force);
    }

    /**
     * Adds attempts to the limit of the policy. The last call wins: the numbers of two calls are not added up.
     *
     * @param attempts 0 to {@value #MAX_GRANT}
     * @throws IllegalArgumentException if {@code attempts} is outside these bounds
     */
    public ManualRetry granting(int attempts) {
        return new ManualRetry(backoff, at, attempts, reset, force);
    }

    /** Sets attempts, losses, interruptions, snoozes and granted attempts back to 0. */
    public ManualRetry resettingCounters() {
        return new ManualRetry(backoff, at, grant, true, force);
    }

    /**
     * Retries also a job whose failure is permanent or whose attempts are spent. One attempt is granted if none is
     * left.
     */
    public ManualRetry forced() {
        return new ManualRetry(backoff, at, grant, reset, true);
    }
}
