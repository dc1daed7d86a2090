// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.fairness.GroupRules;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A worker's request for jobs.
 *
 * @param worker name of the worker, stored with the lease
 * @param lease how long the jobs are held unless the lease is renewed
 * @param max jobs at most, all queues together
 * @param demands queues to take jobs from, in this order, each with its own limit
 * @param retryShare share of each queue's batch, 0 to 1, that is kept for retries: jobs with a counted attempt, and
 *     jobs of an unparked backlog. The rest is for fresh jobs. Each group fills what the other leaves. Rounding evens
 *     out over claims, so that batches of one job starve neither group
 * @param suspects how many suspects may be claimed too. They come before other jobs, in a lease of their own, from the
 *     first one on, as many as may run together. They count towards {@code max} and the limit of their queue
 * @param types types that the jobs must have; empty for any. Jobs of other types that come first must be read and
 *     skipped, and no lock is held during that. A store that skipped many may stop looking for a moment and miss jobs.
 *     A frequent type needs a queue of its own
 * @param others true if the jobs must <em>not</em> have one of {@code types}
 * @param remote whether the answer goes over a network, so that the worker may never get it. Then the store remembers
 *     whether the worker was heard from under this lease; see {@link LostClaim#unheard}
 * @param asked a number for what the worker asks for, before limits narrow it: groups take turns by it. Claims for the
 *     same types have the same number
 * @since 0.1.0
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
        boolean remote,
        int asked) {

    /** Copies the collections. */
    public ClaimRequest {
        demands = List.copyOf(demands);
        types = Set.copyOf(types);
    }

    /** Creates a request that no limit has narrowed. */
    public ClaimRequest(
            String worker,
            Duration lease,
            int max,
            List<Demand> demands,
            double retryShare,
            Suspects suspects,
            Set<String> types,
            boolean others,
            boolean remote) {
        this(
                worker,
                lease,
                max,
                demands,
                retryShare,
                suspects,
                types,
                others,
                remote,
                others ? ~types.hashCode() : types.hashCode());
    }

    /** Creates a request of a local worker for jobs of these types. */
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

    /** Returns this request for some of its queues, with what is left of its room. */
    public ClaimRequest of(List<Demand> some, int left, Suspects beside) {
        return new ClaimRequest(worker, lease, left, some, retryShare, beside, types, others, remote, asked);
    }

    /** Returns this request without jobs of these types; null if that leaves no type. */
    public @Nullable ClaimRequest without(Set<String> full) {
        if (full.isEmpty()) {
            return this;
        }
        boolean but = types.isEmpty() || others;
        Set<String> left = new HashSet<>(types);
        if (but) {
            left.addAll(full);
        } else {
            left.removeAll(full);
        }
        return left.isEmpty()
                ? null
                : new ClaimRequest(worker, lease, max, demands, retryShare, suspects, left, but, remote, asked);
    }

    /** Returns whether a job of this type may be claimed. */
    public boolean takes(String type) {
        return types.isEmpty() || types.contains(type) != others;
    }

    /**
     * Creates a request of a local worker for jobs of any type.
     *
     * @param suspects whether one suspect may be claimed too; otherwise none
     */
    public ClaimRequest(
            String worker, Duration lease, int max, List<Demand> demands, double retryShare, boolean suspects) {
        this(worker, lease, max, demands, retryShare, suspects ? Suspects.upTo(1) : Suspects.NONE, Set.of());
    }

    /**
     * A request for jobs of one queue.
     *
     * @param queue name of the queue
     * @param max jobs of this queue at most
     * @param rules how the groups of the queue share it
     */
    public record Demand(String queue, int max, GroupRules rules) {

        /** Creates a request for jobs of a queue whose groups have equal turns. */
        public Demand(String queue, int max) {
            this(queue, max, GroupRules.EQUAL);
        }
    }

    /** Returns how the groups of a queue share it. */
    public GroupRules rulesOf(String queue) {
        for (Demand demand : demands) {
            if (demand.queue.equals(queue)) {
                return demand.rules;
            }
        }
        return GroupRules.EQUAL;
    }
}
