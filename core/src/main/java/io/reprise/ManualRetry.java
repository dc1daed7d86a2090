// SPDX-License-Identifier: Apache-2.0
package io.reprise;

/**
 * The way in which a person retries a job by {@link Operations#retry}. In every case the time until the deadline starts
 * again. Immutable: each method returns a copy; start from {@link #NOW}.
 *
 * @param backoff true if the job waits for the delay of the policy; false if it is due at once
 * @param grant number of attempts added to the limit of the policy, 0 to {@value #MAX_GRANT}
 * @param reset whether all counters go back to 0
 * @param force whether a job is retried although its failure is permanent or its attempts are spent. One attempt is
 *     granted if none is left
 * @since 0.1.0
 */
public record ManualRetry(boolean backoff, int grant, boolean reset, boolean force) {

    /** The greatest number of attempts that one retry can grant. */
    public static final int MAX_GRANT = 1_000_000;

    /** Due at once, with the attempts that are left. */
    public static final ManualRetry NOW = new ManualRetry(false, 0, false, false);

    /**
     * Checks the number of attempts.
     *
     * @throws IllegalArgumentException if {@code grant} is outside its bounds
     */
    public ManualRetry {
        if (grant < 0 || grant > MAX_GRANT) {
            throw new IllegalArgumentException("grant must be 0 to " + MAX_GRANT + ", not " + grant);
        }
    }

    /** Makes the job wait for the delay that the policy gives after its attempts so far. */
    public ManualRetry withBackoff() {
        return new ManualRetry(true, grant, reset, force);
    }

    /**
     * Adds attempts to the limit of the policy. The last call wins: the numbers of two calls are not added up.
     *
     * @param attempts 0 to {@value #MAX_GRANT}
     * @throws IllegalArgumentException if {@code attempts} is outside these bounds
     */
    public ManualRetry granting(int attempts) {
        return new ManualRetry(backoff, attempts, reset, force);
    }

    /** Sets attempts, losses, interruptions, snoozes and granted attempts back to 0. */
    public ManualRetry resettingCounters() {
        return new ManualRetry(backoff, grant, true, force);
    }

    /**
     * Retries also a job whose failure is permanent or whose attempts are spent. One attempt is granted if none is
     * left.
     */
    public ManualRetry forced() {
        return new ManualRetry(backoff, grant, reset, true);
    }
}
