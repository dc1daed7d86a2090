// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobState;
import io.reprise.job.WaitReason;
import io.reprise.step.StepEdit;
import io.reprise.step.StoredStep;
import io.reprise.store.Lane;
import io.reprise.store.Requeue;
import io.reprise.store.RequeueResult;
import io.reprise.store.RequeueResult.Result;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Puts dead letters and waiting jobs back. */
final class MemoryRequeues {

    private final MemoryTables tables;

    MemoryRequeues(MemoryTables tables) {
        this.tables = tables;
    }

    RequeueResult requeue(@Nullable StoredJob job, Requeue requeue, Instant now) {
        if (job == null) {
            return new RequeueResult(Result.MISSING, null);
        }
        if (job.state != JobState.FAILED && job.state != JobState.PENDING) {
            return new RequeueResult(Result.NOT_WAITING, null);
        }
        if (Job.isHeldByBatch(job.waitReason, job.dueAt)) {
            return new RequeueResult(Result.FOLLOWS, null);
        }
        StoredJob holder = job.spec.key() == null ? null : tables.keyHolders.get(job.spec.key());
        if (holder != null && holder != job) {
            return new RequeueResult(Result.KEY_TAKEN, null);
        }
        StepEdit steps = requeue.edit().steps();
        if (steps != null && !MemorySteps.change(job, steps, now)) {
            return new RequeueResult(Result.NO_STEP, null);
        }
        if (requeue.edit().newId() && job.state == JobState.FAILED) {
            // The new job takes the place of the old one in its batch.
            tables.update(job, () -> job.waitUntil(now, WaitReason.MANUAL));
        }
        StoredJob target = requeue.edit().newId() ? renew(job, now) : job;
        tables.update(target, () -> apply(target, requeue, now));
        return new RequeueResult(Result.DONE, target.id);
    }

    /** The job under a new id, without its history. */
    private StoredJob renew(StoredJob old, Instant now) {
        List<String> idempotencyKeys = List.copyOf(old.idempotencyKeys);
        tables.delete(old);
        StoredJob job = new StoredJob(tables.nextId(), old.spec, now, old.dueAt);
        job.firstDueAt = old.firstDueAt;
        job.deadline = old.deadline;
        job.lastError = old.lastError;
        job.counts = old.counts;
        job.lane = old.lane;
        job.together = old.together;
        job.lastDelay = old.lastDelay;
        tables.add(job);
        idempotencyKeys.forEach(key -> tables.remember(key, job));
        return job;
    }

    private static void apply(StoredJob job, Requeue requeue, Instant now) {
        Instant due = requeue.due(now);
        job.spec = requeue.edit().applyTo(job.spec);
        job.waitUntil(due, WaitReason.MANUAL);
        job.deadline = null;
        if (requeue.window() != null) {
            job.firstDueAt = due;
            job.deadline = due.plus(requeue.window()).truncatedTo(ChronoUnit.MICROS);
        }
        if (requeue.resetCounts()) {
            job.counts = JobCounts.NONE;
            job.lane = Lane.FRESH;
            job.lastDelay = null;
        }
        job.grant(requeue.grant());
        if (requeue.edit().steps() == null) {
            job.steps.values().removeIf(step -> step.state() == StoredStep.State.FAILED && step.token() > 0);
        }
    }
}
