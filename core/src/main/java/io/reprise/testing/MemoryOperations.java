// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.job.AuditNote;
import io.reprise.job.Cancellation;
import io.reprise.job.JobChange;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import io.reprise.step.StepEdit;
import io.reprise.store.Requeue;
import io.reprise.store.RequeueResult;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Operations of people on jobs and queues. Each change writes its audit entry. */
final class MemoryOperations {

    private final MemoryTables tables;
    private final MemoryAudit audit;
    private final MemoryRequeues requeuing;

    MemoryOperations(MemoryTables tables, MemoryAudit audit) {
        this.tables = tables;
        this.audit = audit;
        this.requeuing = new MemoryRequeues(tables);
    }

    void pause(String queue, AuditNote note, Instant now) {
        MemoryQueue row = tables.queue(queue);
        row.paused = row.paused == null ? new QueueState.Pause(now, note) : row.paused;
        audit.subject(now, "pause", queue, note, null);
    }

    void resume(String queue, AuditNote note, Instant now) {
        tables.queue(queue).paused = null;
        audit.subject(now, "resume", queue, note, null);
    }

    void limit(String queue, @Nullable Integer maxRunning, AuditNote note, Instant now) {
        tables.queue(queue).maxRunning = maxRunning;
        audit.subject(now, "limit", queue, note, maxRunning == null ? "no limit" : "at most " + maxRunning);
    }

    Cancellation cancel(@Nullable StoredJob job, AuditNote note, Instant now) {
        if (job == null) {
            return Cancellation.MISSING;
        }
        if (job.state.isTerminal()) {
            return Cancellation.TOO_LATE;
        }
        audit.job(now, "cancel", job.id, note, null);
        if (job.state == JobState.RUNNING) {
            job.cancelRequested = true;
            return Cancellation.REQUESTED;
        }
        tables.update(job, () -> job.finish(JobState.CANCELLED, now));
        return Cancellation.DONE;
    }

    RequeueResult requeue(JobId id, Requeue requeue, AuditNote note, Instant now) {
        RequeueResult requeued = requeuing.requeue(tables.jobs.get(id), requeue, now);
        JobId newId = requeued.id();
        if (newId != null) {
            StepEdit steps = requeue.edit().steps();
            if (steps != null) {
                audit.job(now, steps.action(), id, note, steps.detail());
            }
            audit.job(now, requeue.action(), id, note, requeue.detail(id, newId));
        }
        return requeued;
    }

    JobChange.Answer change(@Nullable StoredJob job, JobChange change, AuditNote note, Instant now) {
        if (job == null) {
            return JobChange.Answer.MISSING;
        }
        JobChange.Changed changed = change.applyTo(job.read(), now);
        if (changed.answer() == JobChange.Answer.DONE) {
            tables.update(job, () -> job.become(changed));
            audit.job(now, "change", job.id, note, change.detail());
        }
        return changed.answer();
    }

    boolean discard(@Nullable StoredJob job, AuditNote note, Instant now) {
        if (job == null || !job.state.isTerminal()) {
            return false;
        }
        tables.delete(job);
        audit.job(now, "discard", job.id, note, null);
        return true;
    }
}
