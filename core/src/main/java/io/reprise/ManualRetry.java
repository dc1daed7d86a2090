// SPDX-License-Identifier: Apache-2.0
package io.reprise;

/**
 * How a person retries a job. Immutable: each method returns a copy.
 *
 * @param backoff whether the policy's delay applies, instead of at once
 * @param grant attempts added to what the policy allows
 * @param reset whether all counters start anew
 * @param force whether to retry even what is not retryable, and to grant one attempt if none is left
 */
public record ManualRetry(boolean backoff, int grant, boolean reset, boolean force) {

    public static final int MAX_GRANT = 1_000_000;

    /** At once, on what is left of the attempts. */
    public static final ManualRetry NOW = new ManualRetry(false, 0, false, false);

    public ManualRetry {
        if (grant < 0 || grant > MAX_GRANT) {
            throw new IllegalArgumentException("grant must be 0 to " + MAX_GRANT + ", not " + grant);
        }
    }

    public ManualRetry withBackoff() {
        return new ManualRetry(true, grant, reset, force);
    }

    public ManualRetry granting(int attempts) {
        return new ManualRetry(backoff, attempts, reset, force);
    }

    public ManualRetry resettingCounters() {
        return new ManualRetry(backoff, grant, true, force);
    }

    public ManualRetry forced() {
        return new ManualRetry(backoff, grant, reset, true);
    }
}
