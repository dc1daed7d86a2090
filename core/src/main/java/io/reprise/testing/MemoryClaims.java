// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.fairness.FlowGate;
import io.reprise.fairness.FlowKey;
import io.reprise.fairness.GroupRules;
import io.reprise.fairness.StartGoal;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.store.Claim;
import io.reprise.store.ClaimPlan;
import io.reprise.store.ClaimRequest;
import io.reprise.store.DueQueues;
import io.reprise.store.Lane;
import io.reprise.store.LostClaim;
import io.reprise.store.Micros;
import io.reprise.store.Renewal;
import io.reprise.store.RetryShare;
import io.reprise.store.Suspects;
import io.reprise.store.Turns;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Makes leases and takes expired leases over. */
final class MemoryClaims {

    private static final Comparator<StoredJob> BY_PRIORITY = Comparator.comparingInt(job -> -job.spec.priority());

    private static final Comparator<StoredJob> CLAIM_ORDER = Comparator.<StoredJob>comparingInt(
                    job -> -job.spec.priority())
            .thenComparing(job -> job.dueAt)
            .thenComparing(job -> job.id);

    private final MemoryTables tables;
    private final RetryShare share = new RetryShare();
    private final Turns turns = new Turns();

    MemoryClaims(MemoryTables tables) {
        this.tables = tables;
    }

    List<Claim> claim(ClaimRequest request, Instant now) {
        return ClaimPlan.overQueues(request, (name, room, suspects) -> {
            MemoryQueue queue = tables.queue(name);
            return ClaimPlan.suspectsFirst(
                    Math.min(room, room(queue)),
                    suspects,
                    most -> suspects(queue, most, suspects, request, now),
                    most -> batch(queue, most, request, now));
        });
    }

    private int room(MemoryQueue queue) {
        return tables.pause(queue) == null ? tables.room(queue) : 0;
    }

    DueQueues dueQueues(String after, String before, int looks, Instant now) {
        List<String> due = new ArrayList<>();
        String last = null;
        int scanned = 0;
        for (MemoryQueue queue :
                tables.queues.subMap(after, false, before, false).values()) {
            if (scanned == looks) {
                return new DueQueues(due, last);
            }
            if (queue.isLive()) {
                scanned++;
                last = queue.name;
                if (room(queue) > 0 && queue.ready.isDue(now)) {
                    due.add(queue.name);
                }
            }
        }
        return new DueQueues(due, null);
    }

    private @Nullable Claim suspects(
            MemoryQueue queue, int room, Suspects suspects, ClaimRequest request, Instant now) {
        if (!queue.ready.mayBeDue(Lane.SUSPECT, now)) {
            return null;
        }
        FlowGate gate = gate(queue, request, now);
        List<StoredJob> due =
                queue.ready.due(Lane.SUSPECT, now, room, wanted(request).and(job -> gate.room(flowKey(job)) > 0));
        List<StoredJob> group = due.subList(0, suspects.fitting(together(due).toArray())).stream()
                .filter(job -> gate.admits(flowKey(job)))
                .toList();
        queue.rates.putAll(gate.changed());
        queue.heads.putAll(gate.started());
        if (group.isEmpty()) {
            return null;
        }
        int together = together(group).min().orElse(1);
        return lease(request, queue, group, together == 1, now).ofSuspects(together);
    }

    private static IntStream together(List<StoredJob> jobs) {
        return jobs.stream().mapToInt(job -> job.together);
    }

    private @Nullable Claim batch(MemoryQueue queue, int room, ClaimRequest request, Instant now) {
        if (!queue.ready.mayBeDue(Lane.FRESH, now) && !queue.ready.mayBeDue(Lane.RETRY, now)) {
            return null;
        }
        FlowGate gate = gate(queue, request, now);
        List<Turns.Pick<StoredJob>> fresh = inTurns(queue, Lane.FRESH, room, request, gate, now);
        List<Turns.Pick<StoredJob>> retries = inTurns(queue, Lane.RETRY, room, request, gate, now);
        int kept = share.kept(queue.name, room, request.retryShare());
        int retried = RetryShare.retries(fresh.size(), retries.size(), room, kept);
        List<Turns.Pick<StoredJob>> picks = new ArrayList<>(retries.subList(0, retried));
        picks.addAll(fresh.subList(0, Math.min(fresh.size(), room - retried)));
        picks.forEach(turns::took);
        List<StoredJob> batch = new ArrayList<>(picks.stream()
                .map(Turns.Pick::job)
                .filter(job -> gate.admits(flowKey(job)))
                .toList());
        queue.rates.putAll(gate.changed());
        queue.heads.putAll(gate.started());
        boolean groups = batch.stream().anyMatch(job -> job.spec.group() != null);
        batch.sort(groups ? BY_PRIORITY : CLAIM_ORDER);
        share.claimed(queue.name, batch.size(), request.retryShare());
        return batch.isEmpty() ? null : lease(request, queue, batch, false, now);
    }

    private List<Turns.Pick<StoredJob>> inTurns(
            MemoryQueue queue, Lane lane, int max, ClaimRequest request, FlowGate gate, Instant now) {
        if (!queue.ready.mayBeDue(lane, now)) {
            return List.of();
        }
        List<Turns.Pick<StoredJob>> picked = new ArrayList<>();
        Predicate<StoredJob> open = wanted(request).and(job -> gate.room(flowKey(job)) > 0);
        for (int priority : queue.ready.priorities(lane)) {
            int left = max - picked.size();
            if (left > 0) {
                Turns.Level level = new Turns.Level(queue.name, lane == Lane.RETRY ? 1 : 0, priority, request.asked());
                GroupRules rules = request.rulesOf(queue.name);
                StartGoal goal = rules.goal();
                int most = rules.isLateFirst() ? Integer.MAX_VALUE : left;
                List<Turns.Waiting<StoredJob>> waiting =
                        queue.ready.walk(lane, priority, turns.from(level), most, now, open);
                List<Turns.Pick<StoredJob>> picks = turns.pick(level, waiting, most, rules);
                picked.addAll(
                        goal == null || !goal.lateFirst()
                                ? picks
                                : Turns.lateFirst(picks, late(picks, now.minus(goal.atRisk())), left));
            }
        }
        return picked;
    }

    private static List<StoredJob> late(List<Turns.Pick<StoredJob>> picks, Instant before) {
        return picks.stream()
                .map(Turns.Pick::job)
                .filter(job -> !job.dueAt.isAfter(before))
                .sorted(ReadyJobs.BY_DUE)
                .toList();
    }

    private FlowGate gate(MemoryQueue queue, ClaimRequest request, Instant now) {
        return gate(queue, request.rulesOf(queue.name), now);
    }

    FlowGate gate(MemoryQueue queue, GroupRules rules, Instant now) {
        Map<String, Integer> running = new HashMap<>();
        if (rules.isLimited()) {
            tables.leases.values().stream()
                    .filter(lease -> lease.queue.equals(queue.name))
                    .flatMap(lease -> lease.jobs.stream())
                    .map(MemoryClaims::flowKey)
                    .forEach(job -> {
                        running.merge(FlowGate.ofType(job.type()), 1, Integer::sum);
                        if (job.group() != null) {
                            running.merge(job.group(), 1, Integer::sum);
                        }
                    });
        }
        return new FlowGate(rules, Micros.of(now), running, queue.rates, rules.isOrdered() ? heads(queue) : Map.of());
    }

    /** The jobs that started last in their groups and have not ended. */
    private Map<String, Long> heads(MemoryQueue queue) {
        queue.heads.values().removeIf(id -> !isLive(queue, id));
        return queue.heads;
    }

    private boolean isLive(MemoryQueue queue, long id) {
        StoredJob job = tables.jobs.get(new JobId(id));
        return job != null && !job.state.isTerminal() && job.spec.queue().equals(queue.name);
    }

    private static FlowKey flowKey(StoredJob job) {
        return new FlowKey(job.spec.group(), job.spec.type(), job.id.value());
    }

    private static Predicate<StoredJob> wanted(ClaimRequest request) {
        return job -> request.takes(job.spec.type());
    }

    private Claim lease(ClaimRequest request, MemoryQueue queue, List<StoredJob> batch, boolean alone, Instant now) {
        MemoryLease lease = new MemoryLease(
                tables.nextToken(), request.worker(), queue.name, alone, now, now.plus(request.lease()));
        tables.leases.put(lease.token, lease);
        for (StoredJob job : batch) {
            tables.update(job, () -> {
                job.state = JobState.RUNNING;
                job.startedAt = now;
            });
            hand(job, lease);
        }
        lease.unheard = request.remote() ? batch.size() : 0;
        return lease.read();
    }

    Renewal renew(String worker, Collection<Long> tokens, Duration term, Instant now) {
        Set<Long> lost = new HashSet<>();
        Set<JobId> cancelled = new HashSet<>();
        for (Long token : tokens) {
            MemoryLease lease = tables.leases.get(token);
            if (lease == null || !lease.worker.equals(worker)) {
                lost.add(token);
                continue;
            }
            lease.expiresAt = now.plus(term);
            lease.unheard = 0;
            lease.jobs.stream().filter(job -> job.cancelRequested).forEach(job -> cancelled.add(job.id));
        }
        return new Renewal(lost, cancelled);
    }

    void excuse(String worker, Collection<Long> tokens, boolean excused) {
        for (Long token : tokens) {
            MemoryLease lease = tables.leases.get(token);
            if (lease != null && lease.worker.equals(worker)) {
                lease.excused = excused;
            }
        }
    }

    List<LostClaim> takeOver(String taker, Duration term, int maxLeases, Instant now) {
        List<MemoryLease> expired = tables.leases.values().stream()
                .filter(lease -> !lease.jobs.isEmpty() && !lease.expiresAt.isAfter(now))
                .sorted(Comparator.comparing(lease -> lease.expiresAt))
                .limit(maxLeases)
                .toList();
        List<LostClaim> taken = new ArrayList<>();
        for (MemoryLease lost : expired) {
            tables.leases.remove(lost.token);
            MemoryLease lease = new MemoryLease(tables.nextToken(), taker, lost, now.plus(term));
            tables.leases.put(lease.token, lease);
            lost.jobs.forEach(job -> hand(job, lease));
            taken.add(new LostClaim(lease.read(), lost.token, lost.runner, lost.excused, lost.isUnheard()));
        }
        return taken;
    }

    int dropEmpty(int max, Instant now) {
        List<Long> empty = tables.leases.values().stream()
                .filter(lease -> lease.jobs.isEmpty() && !lease.expiresAt.isAfter(now))
                .map(lease -> lease.token)
                .limit(max)
                .toList();
        empty.forEach(tables.leases::remove);
        return empty.size();
    }

    void dropIfEmpty(long token) {
        MemoryLease lease = tables.leases.get(token);
        if (lease != null && lease.jobs.isEmpty()) {
            tables.leases.remove(token);
        }
    }

    private static void hand(StoredJob job, MemoryLease lease) {
        job.lease = lease;
        lease.jobs.add(job);
    }
}
