// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.job.Attempt;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.job.WaitReason;
import io.reprise.store.CountedAs;
import io.reprise.store.Lane;
import io.reprise.store.Micros;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Writes the outcomes of claims. */
final class MemorySettlements {

    private final MemoryTables tables;
    private final MemoryInserts inserting;
    private final MemorySteps steps;

    MemorySettlements(MemoryTables tables, MemoryInserts inserting, MemorySteps steps) {
        this.tables = tables;
        this.inserting = inserting;
        this.steps = steps;
    }

    Settled settle(List<Settlement> settlements, Collection<Long> closing, Instant at) {
        Set<JobId> stale = new HashSet<>();
        Set<JobId> cancelled = new HashSet<>();
        for (Settlement settlement : settlements) {
            StoredJob job = tables.jobs.get(settlement.job());
            if (job == null || !job.isHeldUnder(settlement.token())) {
                stale.add(settlement.job());
            } else {
                Settlement.Effect[] effect = new Settlement.Effect[1];
                tables.update(job, () -> effect[0] = settle(job, settlement, at));
                boolean instead = effect[0].cancelledInstead();
                if (instead) {
                    cancelled.add(settlement.job());
                } else if (settlement.step() != null) {
                    steps.settled(job, settlement.step(), settlement.token(), at);
                }
                boolean joins = !instead
                        && settlement.next() instanceof Settlement.Wait wait
                        && wait.reason() == WaitReason.BATCH;
                Settlement.FollowUps followUps = settlement.followUps();
                if (joins && !followUps.jobs().isEmpty()) {
                    tables.batches.join(job.id, followUps.jobs(), at);
                } else if (joins
                        && settlement.step() != null
                        && tables.batches.isJoined(job.id, settlement.step().name())) {
                    tables.update(job, () -> job.dueAt = at);
                }
                inserting.insert(instead ? followUps.ifCancelled() : followUps.jobs(), at);
            }
        }
        closing.forEach(token -> close(token, at));
        return new Settled(at, stale, cancelled);
    }

    private void close(long token, Instant at) {
        MemoryLease lease = tables.leases.remove(token);
        if (lease != null) {
            for (StoredJob job : List.copyOf(lease.jobs)) {
                tables.update(job, () -> putBack(job, at));
            }
        }
    }

    private static Settlement.Effect settle(StoredJob job, Settlement settlement, Instant at) {
        Instant startedAt = at.minus(Micros.duration(Micros.of(settlement.ran())));
        remember(job, settlement, startedAt, at);
        if (settlement.failure() != null) {
            job.lastError = new JobStatus.LastError(
                    settlement.failure().type(),
                    settlement.failure().message(),
                    settlement.failure().fingerprint());
        }
        if (settlement.tags() != null && !(settlement.next() instanceof Settlement.Succeed)) {
            job.spec = job.spec.toBuilder().tags(settlement.tags()).build();
        }
        job.startedAt = startedAt;
        Settlement.Effect effect = settlement.on(job.counts, job.lane, job.cancelRequested);
        job.counts = effect.counts();
        job.lane = effect.lane();
        if (effect.state() == null) {
            putBack(job, settlement, at);
        } else {
            end(job, settlement.next(), effect.state(), at);
        }
        return effect;
    }

    private static void end(StoredJob job, Settlement.Next next, JobState state, Instant at) {
        if (next instanceof Settlement.Succeed success) {
            job.result = success.result();
        }
        if (state == JobState.FAILED && next instanceof Settlement.Fail failure) {
            job.failReason = failure.reason();
        }
        job.finish(state, at);
    }

    private static void putBack(StoredJob job, Settlement settlement, Instant at) {
        Settlement.Next next = settlement.next();
        if (next instanceof Settlement.Wait pause) {
            job.waitUntil(at.plus(pause.delay()).truncatedTo(ChronoUnit.MICROS), pause.reason());
            job.lastDelay = pause.lastDelay() == null ? job.lastDelay : pause.lastDelay();
            if (job.lane == Lane.SUSPECT) {
                job.together = pause.together();
            }
        } else if (next instanceof Settlement.Park park) {
            Duration delay = park.delay();
            Instant due = delay == null ? job.dueAt : at.plus(delay).truncatedTo(ChronoUnit.MICROS);
            job.waitUntil(due, park.reason());
            job.lastDelay = park.lastDelay() == null ? job.lastDelay : park.lastDelay();
            job.parkedBy = park.by();
        } else {
            putBack(job, at);
        }
    }

    private static void putBack(StoredJob job, Instant at) {
        if (job.cancelRequested) {
            job.finish(JobState.CANCELLED, at);
        } else {
            job.putBack();
        }
    }

    private static void remember(StoredJob job, Settlement settlement, Instant startedAt, Instant at) {
        MemoryLease lease = job.lease;
        if (lease != null && settlement.spent() != CountedAs.NOTHING) {
            job.remember(new Attempt(
                    job.counts.attempts() + 1,
                    lease.token,
                    lease.runner,
                    startedAt,
                    at,
                    settlement.ending(),
                    settlement.failure(),
                    settlement.decision()));
        }
    }
}
