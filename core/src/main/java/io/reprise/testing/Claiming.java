// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.JobId;
import io.reprise.JobState;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.LostClaim;
import io.reprise.store.Renewal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/** Hands out leases and takes expired ones over. */
final class Claiming {

    private static final Comparator<StoredJob> CLAIM_ORDER = Comparator.<StoredJob>comparingInt(
                    job -> -job.spec.priority())
            .thenComparing(job -> job.dueAt)
            .thenComparing(job -> job.id);

    private final Tables tables;

    Claiming(Tables tables) {
        this.tables = tables;
    }

    List<Claim> claim(ClaimRequest request, Instant now) {
        List<Claim> claims = new ArrayList<>();
        int left = request.max();
        boolean suspects = request.suspects();
        for (ClaimRequest.Demand demand : request.demands()) {
            QueueRow queue = tables.queue(demand.queue());
            int room = Math.min(Math.min(left, demand.max()), queue.room());
            if (suspects && room > 0) {
                List<StoredJob> suspect = queue.ready.due(Lane.SUSPECT, now, 1, wanted(request));
                if (!suspect.isEmpty()) {
                    claims.add(lease(request, queue, suspect, true, now));
                    suspects = false;
                    room--;
                    left--;
                }
            }
            List<StoredJob> batch = pick(queue, room, request, now);
            if (!batch.isEmpty()) {
                claims.add(lease(request, queue, batch, false, now));
                left -= batch.size();
            }
        }
        return claims;
    }

    private static List<StoredJob> pick(QueueRow queue, int room, ClaimRequest request, Instant now) {
        if (room < 1) {
            return List.of();
        }
        List<StoredJob> fresh = queue.ready.due(Lane.FRESH, now, room, wanted(request));
        List<StoredJob> retries = queue.ready.due(Lane.RETRY, now, room, wanted(request));
        int kept = queue.retriesIn(Math.min(room, fresh.size() + retries.size()), request.retryShare());
        int retried = Math.min(retries.size(), Math.max(kept, room - fresh.size()));
        List<StoredJob> batch = new ArrayList<>(retries.subList(0, retried));
        batch.addAll(fresh.subList(0, Math.min(fresh.size(), room - retried)));
        batch.sort(CLAIM_ORDER);
        return batch;
    }

    private static Predicate<StoredJob> wanted(ClaimRequest request) {
        return job -> request.types().isEmpty() || request.types().contains(job.spec.type());
    }

    private Claim lease(ClaimRequest request, QueueRow queue, List<StoredJob> batch, boolean alone, Instant now) {
        Lease lease =
                new Lease(tables.nextToken(), request.worker(), queue.name, alone, now, now.plus(request.lease()));
        tables.leases.put(lease.token, lease);
        for (StoredJob job : batch) {
            tables.update(job, () -> {
                job.state = JobState.RUNNING;
                job.startedAt = now;
            });
            hand(job, lease);
        }
        return lease.read();
    }

    Renewal renew(String worker, Collection<Long> tokens, Duration term, Instant now) {
        Set<Long> lost = new HashSet<>();
        Set<JobId> cancelled = new HashSet<>();
        for (Long token : tokens) {
            Lease lease = tables.leases.get(token);
            if (lease == null || !lease.worker.equals(worker)) {
                lost.add(token);
                continue;
            }
            lease.expiresAt = now.plus(term);
            lease.jobs.stream().filter(job -> job.cancelRequested).forEach(job -> cancelled.add(job.id));
        }
        return new Renewal(lost, cancelled);
    }

    List<LostClaim> takeOver(String taker, Duration term, int maxLeases, Instant now) {
        List<Lease> expired = tables.leases.values().stream()
                .filter(lease -> !lease.expiresAt.isAfter(now))
                .sorted(Comparator.comparing(lease -> lease.expiresAt))
                .limit(maxLeases)
                .toList();
        List<LostClaim> taken = new ArrayList<>();
        for (Lease lost : expired) {
            tables.leases.remove(lost.token);
            if (!lost.jobs.isEmpty()) {
                Lease lease = new Lease(tables.nextToken(), taker, lost, now.plus(term));
                tables.leases.put(lease.token, lease);
                lost.jobs.forEach(job -> hand(job, lease));
                taken.add(new LostClaim(lease.read(), lost.token, lost.runner));
            }
        }
        return taken;
    }

    private static void hand(StoredJob job, Lease lease) {
        job.lease = lease;
        lease.jobs.add(job);
    }
}
