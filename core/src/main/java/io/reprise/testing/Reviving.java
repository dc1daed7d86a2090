// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.JobCounts;
import io.reprise.JobSpec;
import io.reprise.JobState;
import io.reprise.WaitReason;
import io.reprise.store.Revival;
import io.reprise.store.Revived;
import io.reprise.store.Revived.Result;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Puts dead letters and waiting jobs back. */
final class Reviving {

    private final Tables tables;

    Reviving(Tables tables) {
        this.tables = tables;
    }

    Revived revive(@Nullable StoredJob job, Revival revival, Instant now) {
        if (job == null) {
            return new Revived(Result.MISSING, null);
        }
        if (job.state != JobState.FAILED && job.state != JobState.PENDING) {
            return new Revived(Result.NOT_WAITING, null);
        }
        StoredJob holder = job.spec.key() == null ? null : tables.keyHolders.get(job.spec.key());
        if (holder != null && holder != job) {
            return new Revived(Result.KEY_TAKEN, null);
        }
        StoredJob target = revival.edit().newId() ? renew(job, now) : job;
        tables.update(target, () -> apply(target, revival, now));
        return new Revived(Result.DONE, target.id);
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
        job.suspect = old.suspect;
        job.together = old.together;
        job.backlog = old.backlog;
        job.lastDelay = old.lastDelay;
        tables.add(job);
        idempotencyKeys.forEach(key -> tables.remember(key, job));
        return job;
    }

    private static void apply(StoredJob job, Revival revival, Instant now) {
        Instant due = now.plus(revival.delay()).truncatedTo(ChronoUnit.MICROS);
        job.spec = edited(job.spec, revival.edit());
        job.waitUntil(due, WaitReason.MANUAL);
        job.deadline = null;
        if (revival.window() != null) {
            job.firstDueAt = due;
            job.deadline = due.plus(revival.window()).truncatedTo(ChronoUnit.MICROS);
        }
        if (revival.resetCounts()) {
            job.counts = JobCounts.NONE;
            job.suspect = false;
            job.backlog = false;
            job.lastDelay = null;
        }
        job.grant(revival.grant());
    }

    private static JobSpec edited(JobSpec spec, Revival.Edit edit) {
        JobSpec.Builder builder = spec.toBuilder();
        if (edit.queue() != null) {
            builder.queue(edit.queue());
        }
        if (edit.payload() != null) {
            builder.payload(edit.payload());
        }
        return builder.build();
    }
}
