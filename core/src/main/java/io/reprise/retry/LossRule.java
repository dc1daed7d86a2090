// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.text.Bounds;

/**
 * The cost of a loss to a job. A loss happens when a worker disappears and its lease expires.
 *
 * <p>From its second loss on, a job is a <i>suspect</i>: it may be the cause. With each further loss it runs beside
 * fewer other suspects, and alone before the last loss.
 *
 * @param counts whether the lost run spends one of {@code maxAttempts}
 * @param backoff whether the job waits as after a failure; otherwise it is due at once
 * @param max number of losses after which the job is quarantined, if it was the only suspect of its worker at the last
 *     loss; 1 to 1,000,000. With 1 a lost run is never repeated, whichever jobs ran beside it
 * @since 0.1.0
 */
public record LossRule(boolean counts, boolean backoff, int max) {

    /**
     * The default: a loss spends no attempt, the job waits as after a failure, and it is quarantined after 5 losses.
     */
    public static final LossRule DEFAULT = new LossRule(false, true, 5);

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if {@code max} is out of its bounds
     */
    public LossRule {
        Bounds.integer("losses.max", max, 1, Bounds.MAX_ATTEMPTS);
    }
}
