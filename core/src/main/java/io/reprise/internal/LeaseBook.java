// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.JobId;
import io.reprise.store.Claim;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What this worker holds: every lease and every run that is not settled yet. Thread-safe. */
final class LeaseBook {

    private final Map<Long, Lease> leases = new TreeMap<>();
    private final Map<String, Integer> openByQueue = new HashMap<>();
    private int open;

    synchronized Lease add(Claim claim, long expiresNanos) {
        Lease lease = new Lease(claim, expiresNanos);
        leases.put(lease.token, lease);
        openByQueue.merge(lease.queue, lease.open(), Integer::sum);
        open += lease.open();
        return lease;
    }

    /** Leases of which nothing would remain once these runs are settled. */
    synchronized List<Long> closedBy(Collection<Run> runs) {
        List<Long> closing = new ArrayList<>();
        count(runs).forEach((lease, settled) -> {
            if (lease.open() == settled) {
                closing.add(lease.token);
            }
        });
        return closing;
    }

    synchronized void settled(Collection<Run> runs) {
        count(runs).forEach((lease, settled) -> {
            lease.close(settled);
            openByQueue.merge(lease.queue, -settled, Integer::sum);
            open -= settled;
            if (lease.open() == 0) {
                leases.remove(lease.token);
            }
        });
    }

    private static Map<Lease, Integer> count(Collection<Run> runs) {
        Map<Lease, Integer> counts = new HashMap<>();
        runs.forEach(run -> counts.merge(run.lease, 1, Integer::sum));
        return counts;
    }

    synchronized int open() {
        return open;
    }

    synchronized int open(String queue) {
        return openByQueue.getOrDefault(queue, 0);
    }

    synchronized boolean holdsSuspect() {
        return leases.values().stream().anyMatch(lease -> lease.alone);
    }

    synchronized List<Lease> leases() {
        return List.copyOf(leases.values());
    }

    synchronized @Nullable Lease lease(long token) {
        return leases.get(token);
    }

    synchronized void extend(Collection<Lease> renewed, long untilNanos) {
        renewed.forEach(lease -> lease.extend(untilNanos));
    }

    /** Runs of this job here, normally one. */
    synchronized List<Run> runs(JobId id) {
        List<Run> found = new ArrayList<>();
        for (Lease lease : leases.values()) {
            for (Run run : lease.runs) {
                if (run.id().equals(id) && !run.hasEnded()) {
                    found.add(run);
                }
            }
        }
        return found;
    }

    synchronized List<Run> unfinished() {
        List<Run> found = new ArrayList<>();
        leases.values()
                .forEach(lease ->
                        lease.runs.stream().filter(run -> !run.hasEnded()).forEach(found::add));
        return found;
    }
}
