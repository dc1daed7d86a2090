// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.time.Duration;
import java.util.List;

/**
 * One worker's wish for work.
 *
 * @param worker name of the worker, kept with the lease
 * @param lease how long the claimed jobs are held unless renewed
 * @param max jobs wanted at most, all queues together
 * @param demands queues to take from, in this order, each with its own limit
 * @param retryShare part of each queue's batch, 0 to 1, kept for jobs that have failed before (with a counted attempt);
 *     the rest is for fresh ones, and either fills what the other leaves. Rounding evens out over claims, so that also
 *     batches of one starve neither
 * @param suspects whether a suspect (a job whose worker was lost more than once) may be claimed too; at most one
 *     is, in a lease of its own and before the others. It counts towards {@code max} and its queue's limit
 */
public record ClaimRequest(
        String worker, Duration lease, int max, List<Demand> demands, double retryShare, boolean suspects) {

    public ClaimRequest {
        demands = List.copyOf(demands);
    }

    /** Up to {@code max} jobs of one queue. */
    public record Demand(String queue, int max) {}
}
