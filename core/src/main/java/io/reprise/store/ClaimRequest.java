// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.time.Duration;
import java.util.List;
import java.util.Set;

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
 * @param types of which jobs must be; empty for any. Those of others that come first have to be looked at and passed, so
 *     types that many jobs are of had better have queues of their own
 */
public record ClaimRequest(
        String worker,
        Duration lease,
        int max,
        List<Demand> demands,
        double retryShare,
        boolean suspects,
        Set<String> types) {

    public ClaimRequest {
        demands = List.copyOf(demands);
        types = Set.copyOf(types);
    }

    /** A wish for jobs of any type. */
    public ClaimRequest(
            String worker, Duration lease, int max, List<Demand> demands, double retryShare, boolean suspects) {
        this(worker, lease, max, demands, retryShare, suspects, Set.of());
    }

    /** Up to {@code max} jobs of one queue. */
    public record Demand(String queue, int max) {}
}
