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
 * @param suspects which suspects may be claimed too: from the first on, as many as may run together, in a lease of their
 *     own and before the others. They count towards {@code max} and their queue's limit
 * @param types of which jobs must be; empty for any. Those of others that come first have to be looked at and passed, and
 *     no lock is held meanwhile. A store that had to pass many need not look again for a moment, and may then miss
 *     jobs: types that many jobs are of had better have queues of their own
 * @param others whether the jobs must be of other types than these instead
 * @param remote whether the worker is told of the claim over a network and so may never hear of it: then the store keeps
 *     in mind whether it was heard of under the lease ({@link LostClaim#unheard})
 */
public record ClaimRequest(
        String worker,
        Duration lease,
        int max,
        List<Demand> demands,
        double retryShare,
        Suspects suspects,
        Set<String> types,
        boolean others,
        boolean remote) {

    public ClaimRequest {
        demands = List.copyOf(demands);
        types = Set.copyOf(types);
    }

    /** A wish for jobs of these types. */
    public ClaimRequest(
            String worker,
            Duration lease,
            int max,
            List<Demand> demands,
            double retryShare,
            Suspects suspects,
            Set<String> types) {
        this(worker, lease, max, demands, retryShare, suspects, types, false, false);
    }

    /** Whether a job of this type may be claimed. */
    public boolean takes(String type) {
        return types.isEmpty() || types.contains(type) != others;
    }

    /** A wish for jobs of any type, and for one suspect or none. */
    public ClaimRequest(
            String worker, Duration lease, int max, List<Demand> demands, double retryShare, boolean suspects) {
        this(worker, lease, max, demands, retryShare, suspects ? Suspects.upTo(1) : Suspects.NONE, Set.of());
    }

    /** Up to {@code max} jobs of one queue. */
    public record Demand(String queue, int max) {}
}
