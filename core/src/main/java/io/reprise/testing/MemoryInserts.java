// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.job.DuplicateKeyException;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyReusedException;
import io.reprise.job.KeyRule;
import io.reprise.job.WaitReason;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Stores specs, all or none. It first looks for a refusal, and then writes specs that can no longer be refused. */
final class MemoryInserts {

    private final MemoryTables tables;

    MemoryInserts(MemoryTables tables) {
        this.tables = tables;
    }

    List<Enqueued> insert(List<JobSpec> specs, Instant now) {
        refuseDuplicates(specs);
        tables.batches.check(specs.stream().filter(spec -> !isAnswered(spec)).toList());
        return specs.stream().map(spec -> insert(spec, now)).toList();
    }

    /** Whether the idempotency key leads to a stored job. Then the batch is not asked: it may be closed meanwhile. */
    private boolean isAnswered(JobSpec spec) {
        return spec.idempotencyKey() != null && tables.idempotent.containsKey(spec.idempotencyKey());
    }

    private void refuseDuplicates(List<JobSpec> specs) {
        Map<String, JobId> remembered = new HashMap<>();
        Map<String, JobId> holders = new HashMap<>();
        for (JobSpec spec : specs) {
            String idempotencyKey = spec.idempotencyKey();
            JobId known = idempotencyKey == null ? null : remembered(idempotencyKey, remembered);
            String proof = spec.idempotencyProof();
            if (known != null && proof != null && remembered(proof, remembered) == null) {
                throw new KeyReusedException(String.valueOf(idempotencyKey), known);
            }
            String key = spec.key();
            if (known != null || (key == null && idempotencyKey == null)) {
                continue;
            }
            // Stands for the id that the job gets if no spec is refused.
            JobId id = tables.nextId();
            if (idempotencyKey != null) {
                remembered.put(idempotencyKey, id);
            }
            if (proof != null) {
                remembered.put(proof, id);
            }
            if (key != null) {
                StoredJob stored = tables.keyHolders.get(key);
                JobId holder = stored == null ? holders.get(key) : stored.id;
                boolean stays = stored != null && (stored.state == JobState.RUNNING || awaitsBatch(stored));
                if (holder == null) {
                    holders.put(key, id);
                } else if (spec.keyRule() == KeyRule.REJECT || (spec.keyRule() == KeyRule.REPLACE && stays)) {
                    throw new DuplicateKeyException(key, holder);
                }
            }
        }
    }

    /** Returns the job of an idempotency key or proof that is stored, or comes earlier in the same call. */
    private @Nullable JobId remembered(String key, Map<String, JobId> inCall) {
        StoredJob stored = tables.idempotent.get(key);
        return stored == null ? inCall.get(key) : stored.id;
    }

    private Enqueued insert(JobSpec spec, Instant now) {
        StoredJob known = spec.idempotencyKey() == null ? null : tables.idempotent.get(spec.idempotencyKey());
        if (known != null) {
            return new Enqueued(known.id, false, known.dueAt);
        }
        boolean follows = spec.key() != null && spec.keyRule() == KeyRule.FOLLOW;
        StoredJob follower = follows ? tables.keyHolders.get(spec.key() + JobSpec.FOLLOWING) : null;
        StoredJob first = spec.key() == null ? null : tables.keyHolders.get(spec.key());
        boolean behind = follows && first != null && hasBegun(first);
        StoredJob holder = follower != null ? follower : behind ? null : first;
        if (holder == null) {
            StoredJob job = new StoredJob(tables.nextId(), spec, now, due(spec, now));
            begin(job, spec, now, due(spec, now));
            if (behind) {
                holdBack(job, now);
            }
            tables.add(job);
            tables.batches.added(spec);
            tables.remember(spec, job);
            return new Enqueued(job.id, true, job.dueAt);
        }
        if (spec.keyRule() == KeyRule.REPLACE || follows) {
            // A member stays a member after the replacement.
            JobSpec replacing = spec.toBuilder().batch(holder.spec.batch()).build();
            tables.update(holder, () -> {
                begin(holder, replacing, now, bounded(spec, holder.createdAt, now));
                if (follower != null) {
                    holdBack(holder, now);
                }
            });
            // The steps were done for another payload.
            holder.steps.clear();
            tables.batches.forgetUnused(holder);
        }
        tables.remember(spec, holder);
        return new Enqueued(holder.id, false, holder.dueAt);
    }

    private static boolean hasBegun(StoredJob job) {
        return job.state == JobState.RUNNING
                || !job.counts.equals(JobCounts.NONE)
                || !job.steps.isEmpty()
                || awaitsBatch(job);
    }

    /** A job that waits for a batch is neither replaced nor made due by others. */
    private static boolean awaitsBatch(StoredJob job) {
        return Job.isHeldByBatch(job.waitReason, job.dueAt);
    }

    private static void holdBack(StoredJob job, Instant now) {
        job.waitReason = WaitReason.FOLLOW;
        dueFrom(job, now.plus(JobSpec.MAX_DELAY));
    }

    private static void dueFrom(StoredJob job, Instant due) {
        job.firstDueAt = due;
        job.dueAt = due;
        job.deadline = deadline(job.spec, due);
    }

    /** Lets jobs go whose key is free. Returns how many. */
    int letFollow(int limit, Instant now) {
        List<StoredJob> free = tables.following.stream()
                .filter(job -> !tables.keyHolders.containsKey(job.spec.key()))
                .limit(limit)
                .toList();
        for (StoredJob job : free) {
            Instant due = due(job.spec, now);
            tables.update(job, () -> {
                job.waitReason = due.isAfter(now) ? WaitReason.DELAYED : WaitReason.NEW;
                dueFrom(job, due);
            });
        }
        return free.size();
    }

    private static void begin(StoredJob job, JobSpec spec, Instant now, Instant due) {
        job.spec = spec;
        job.parkedBy = null;
        job.waitReason = due.isAfter(now) ? WaitReason.DELAYED : WaitReason.NEW;
        job.firstDueAt = due;
        job.dueAt = due;
        job.deadline = deadline(spec, due);
    }

    private static Instant due(JobSpec spec, Instant now) {
        Instant asked = spec.dueAt() == null ? now.plus(spec.delay()) : spec.dueAt();
        return asked.isBefore(now) ? now : asked.truncatedTo(ChronoUnit.MICROS);
    }

    /** Returns when a job is due that replaces one which was first stored at {@code createdAt}. */
    private static Instant bounded(JobSpec spec, Instant createdAt, Instant now) {
        Instant due = due(spec, now);
        Instant latest = spec.atLatest() == null ? due : createdAt.plus(spec.atLatest());
        return !latest.isBefore(due) ? due : latest.isBefore(now) ? now : latest.truncatedTo(ChronoUnit.MICROS);
    }

    private static @Nullable Instant deadline(JobSpec spec, Instant firstDueAt) {
        Duration deadline = spec.policy().deadline().toOptional().orElse(null);
        return deadline == null ? null : firstDueAt.plus(deadline).truncatedTo(ChronoUnit.MICROS);
    }
}
