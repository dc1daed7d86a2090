// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.JobId;
import io.reprise.JobState;
import io.reprise.store.Cancellation;
import io.reprise.store.Note;
import io.reprise.store.QueueState;
import io.reprise.store.Revival;
import io.reprise.store.Revived;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Operations of people on jobs and queues. Each change writes its audit entry. */
final class ByHand {

    private final Tables tables;
    private final AuditLog audit;
    private final Reviving reviving;

    ByHand(Tables tables, AuditLog audit) {
        this.tables = tables;
        this.audit = audit;
        this.reviving = new Reviving(tables);
    }

    void pause(String queue, Note note, Instant now) {
        QueueRow row = tables.queue(queue);
        row.paused = row.paused == null ? new QueueState.Pause(now, note) : row.paused;
        audit.subject(now, "pause", queue, note, null);
    }

    void resume(String queue, Note note, Instant now) {
        tables.queue(queue).paused = null;
        audit.subject(now, "resume", queue, note, null);
    }

    void limit(String queue, @Nullable Integer maxRunning, Note note, Instant now) {
        tables.queue(queue).maxRunning = maxRunning;
        audit.subject(now, "limit", queue, note, maxRunning == null ? "no limit" : "at most " + maxRunning);
    }

    Cancellation cancel(@Nullable StoredJob job, Note note, Instant now) {
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

    Revived revive(JobId id, Revival revival, Note note, Instant now) {
        Revived revived = reviving.revive(tables.jobs.get(id), revival, now);
        JobId newId = revived.id();
        if (newId != null) {
            audit.job(now, revival.action(), id, note, revival.detail(id, newId));
        }
        return revived;
    }

    boolean discard(@Nullable StoredJob job, Note note, Instant now) {
        if (job == null || !job.state.isTerminal()) {
            return false;
        }
        tables.delete(job);
        audit.job(now, "discard", job.id, note, null);
        return true;
    }
}
