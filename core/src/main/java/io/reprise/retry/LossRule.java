// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

/**
 * What it costs a job when its worker disappears and the lease runs out.
 *
 * @param counts whether the lost attempt spends one of {@code maxAttempts}
 * @param backoff whether the job waits as after a failure, or comes back at once
 * @param max after this many losses the job is quarantined, if it was the only suspect of its worker when it was lost. A job
 *     that was lost twice is a suspect; with each loss it runs beside fewer others, and alone before the last
 */
public record LossRule(boolean counts, boolean backoff, int max) {

    /** Not the job's fault, but with care: nothing spent, backoff, quarantine after 5. */
    public static final LossRule DEFAULT = new LossRule(false, true, 5);

    public LossRule {
        Bounds.integer("losses.max", max, 1, Bounds.MAX_ATTEMPTS);
    }
}
