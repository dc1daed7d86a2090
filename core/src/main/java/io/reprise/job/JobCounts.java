// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import io.reprise.retry.LossRule;
import io.reprise.retry.RetryPolicy;

/**
 * The number of claims of a job, by how each claim ended. {@link #spent} says how many of them spend the
 * {@code maxAttempts} of a policy. A job that is claimed and given back before it starts raises no counter. Immutable.
 *
 * @param attempts runs that ended in success, failure, timeout or cancellation
 * @param losses runs whose worker lost its lease, for instance because it died. The policy's
 *     {@link io.reprise.retry.LossRule} limits them
 * @param interruptions runs that an orderly shutdown cut short, or whose remote worker never reported
 * @param snoozes runs whose handler asked to be called later, and admitted runs that failed as the resource does
 * @param granted attempts that manual retries added to the limit of the policy. After a new step it is at least the
 *     attempts so far, so that each step has the attempts of the policy
 * @since 0.1.0
 */
public record JobCounts(int attempts, int losses, int interruptions, int snoozes, int granted) {

    /** All counters at 0, as for a new job. */
    public static final JobCounts NONE = new JobCounts(0, 0, 0, 0, 0);

    /**
     * Returns how many of {@code maxAttempts} are spent under this policy: the attempts, and the losses if its
     * {@link LossRule} counts them. Every number that people see, and every decision, comes from here.
     */
    public int spent(RetryPolicy policy) {
        if (losses == 0) {
            return attempts;
        }
        boolean lossesCount = policy.complete().losses().map(LossRule::counts).orElse(false);
        return lossesCount ? (int) Math.min((long) attempts + losses, Integer.MAX_VALUE) : attempts;
    }
}
