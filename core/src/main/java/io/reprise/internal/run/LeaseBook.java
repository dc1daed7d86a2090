// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.job.JobId;
import io.reprise.store.Claim;
import io.reprise.store.Suspects;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * All leases that this worker holds, with every run that is not settled. The {@code Fetcher} adds, the
 * {@code Committer} removes, the {@code LeaseKeeper} renews. Thread-safe.
 */
public final class LeaseBook {

    /** Suspects that a new worker may hold at once. */
    static final int FIRST_SUSPECTS = 16;

    private static final int MOST_CLEARED = 10_000;

    private final Map<Long, HeldLease> leases = new TreeMap<>();
    private final Map<String, Integer> openByQueue = new HashMap<>();
    private final Map<String, Integer> openByType = new HashMap<>();
    private int open;
    private int cleared;

    /** Returns a copy of the lease's runs, because other threads settle runs of the lease at the same time. */
    public synchronized List<Run> add(Claim claim, long claimedNanos, long expiresNanos) {
        HeldLease lease = new HeldLease(claim, claimedNanos, expiresNanos);
        leases.put(lease.token, lease);
        openByQueue.merge(lease.queue, lease.open(), Integer::sum);
        open += lease.open();
        claim.jobs().forEach(job -> openByType.merge(job.type(), 1, Integer::sum));
        return lease.runs();
    }

    /** Returns the leases that have no open run once these runs are settled. */
    public synchronized List<Long> closedBy(Collection<Run> runs) {
        Map<HeldLease, Integer> settled = new LinkedHashMap<>();
        runs.forEach(run -> settled.merge(run.lease, 1, Integer::sum));
        List<Long> closing = new ArrayList<>();
        settled.forEach((lease, count) -> {
            if (lease.open() == count) {
                closing.add(lease.token);
            }
        });
        return closing;
    }

    public synchronized void settled(Collection<Run> runs) {
        for (Run run : runs) {
            HeldLease lease = run.lease;
            lease.close(run);
            cleared += lease.together > 0 && cleared < MOST_CLEARED ? 1 : 0;
            openByQueue.merge(lease.queue, -1, Integer::sum);
            openByType.computeIfPresent(run.job.type(), (type, count) -> count > 1 ? count - 1 : null);
            if (lease.open() == 0) {
                leases.remove(lease.token);
            }
        }
        open -= runs.size();
    }

    public synchronized int open() {
        return open;
    }

    /** Returns how many runs of this type are not settled. */
    synchronized int openOf(String type) {
        return openByType.getOrDefault(type, 0);
    }

    public synchronized int open(String queue) {
        return openByQueue.getOrDefault(queue, 0);
    }

    /**
     * Returns how many suspects this worker may claim. It begins with a few. Each suspect that ends here, well or
     * badly, did not kill the worker, so it allows one more. A new process begins with a few again.
     */
    synchronized Suspects suspects() {
        int held = 0;
        int most = FIRST_SUSPECTS + cleared;
        for (HeldLease lease : leases.values()) {
            if (lease.together > 0) {
                held += lease.open();
                most = Math.min(most, lease.together);
            }
        }
        return new Suspects(most - held, held);
    }

    public synchronized List<HeldLease> leases() {
        return List.copyOf(leases.values());
    }

    synchronized void extend(Collection<HeldLease> renewed, long untilNanos) {
        renewed.forEach(lease -> lease.extend(untilNanos));
    }

    synchronized boolean isExpired(HeldLease lease, long nanos) {
        return lease.expiresNanos() - nanos <= 0;
    }

    public synchronized List<Run> runs(HeldLease lease) {
        return lease.runs();
    }

    /** Returns the unfinished runs of this job here, normally one. */
    public List<Run> runs(JobId id) {
        return unfinished(run -> run.id().equals(id));
    }

    public List<Run> unfinished() {
        return unfinished(run -> true);
    }

    public synchronized List<Run> unfinished(Predicate<Run> which) {
        List<Run> found = new ArrayList<>();
        for (HeldLease lease : leases.values()) {
            for (Run run : lease.runs()) {
                if (which.test(run) && !run.hasEnded()) {
                    found.add(run);
                }
            }
        }
        return found;
    }
}
