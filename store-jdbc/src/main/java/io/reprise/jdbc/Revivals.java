// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.Job;
import io.reprise.JobCounts;
import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.JobState;
import io.reprise.JobStatus;
import io.reprise.store.Note;
import io.reprise.store.Revival;
import io.reprise.store.Revived;
import io.reprise.store.Revived.Result;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Puts dead letters and waiting jobs back: the old row goes, a new one with the same facts comes. */
final class Revivals {

    private static final String FAILED = """
            select token, lane, policy
              from {finished}
             where id = ? and state = 'FAILED'
            {for_update}
            """;

    private static final String PENDING = """
            select token, lane, policy
              from reprise_job
             where id = ? and due_at is not null
            """;

    // A lease may still list a job that failed under it; its token is spent, but the claim would pass the job over.
    private static final String LISTED = """
            select h.token
              from reprise_held h
             where h.id = ?
            """;

    private static final String KEY_HOLDER = """
            select id
              from reprise_job
             where unique_key = ? and due_at is not null and id <> ?
            """;

    private static final String INSERT = """
            insert into reprise_job (
              id, created_at, due_at, first_due_at, deadline, wait_reason, token, lane, attempts, losses, interruptions,
              snoozes, granted, last_delay_us, error_type, error_message, fingerprint, progress, progress_message, {spec})
            values (?, ?, ?, ?, ?, 'MANUAL', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {spec_values})
            """;

    /** Lanes from here on are the parked ones: less this, the lane a job came from. */
    private static final int PARKED = 3;

    private final Jobs jobs;
    private final Specs specs;
    private final Attempts attempts;

    Revivals(Jobs jobs, Specs specs, Attempts attempts) {
        this.jobs = jobs;
        this.specs = specs;
        this.attempts = attempts;
    }

    /** The policy as it is stored, whether or not this version can read it. */
    private record Fence(long token, int lane, @Nullable Long policy) {}

    Revived revive(Session session, JobId id, Revival revival, Note note) throws SQLException {
        Dialect dialect = session.dialect();
        Optional<Job> job = lockedJob(session, id);
        if (job.isEmpty() || !isWaiting(job.get())) {
            return refused(session, job.isEmpty() ? Result.MISSING : Result.NOT_WAITING);
        }
        boolean failed = job.get().state() == JobState.FAILED;
        Optional<Fence> fence = session.first(
                dialect.sql(failed ? FAILED : PENDING),
                row -> new Fence(row.number(), row.integer(), row.numberOrNull()),
                id);
        if (fence.isEmpty()) {
            return refused(session, Result.NOT_WAITING);
        }
        String key = job.get().spec().key();
        if (key != null && session.first(KEY_HOLDER, Row::number, key, id).isPresent()) {
            return refused(session, Result.KEY_TAKEN);
        }
        return put(session, job.get(), fence.get(), revival, note);
    }

    private static Revived refused(Session session, Result why) throws SQLException {
        session.confirm();
        return new Revived(why, null);
    }

    /** The job, with claims of its queue kept away; it may move to another queue while we wait for the lock. */
    private Optional<Job> lockedJob(Session session, JobId id) throws SQLException {
        Optional<Job> job = jobs.find(session, id);
        while (job.isPresent()) {
            String queue = job.get().queue();
            session.dialect().lockQueue(session, queue);
            job = jobs.find(session, id);
            if (job.isPresent() && job.get().queue().equals(queue)) {
                break;
            }
        }
        return job;
    }

    private static boolean isWaiting(Job job) {
        return job.state() == JobState.FAILED || job.state() == JobState.PENDING;
    }

    private Revived put(Session session, Job job, Fence fence, Revival revival, Note note) throws SQLException {
        Dialect dialect = session.dialect();
        JobId id = job.id();
        boolean renew = revival.edit().newId();
        JobId target = renew ? new JobId(dialect.nextId(session)) : id;
        if (job.state() == JobState.FAILED) {
            leaveLeases(session, id);
            session.update(dialect.sql("delete from {finished} where id = ?"), id);
            Counters.Sums sums = new Counters.Sums();
            sums.add(job.queue(), JobState.FAILED, -1);
            sums.write(session);
        } else {
            session.update("delete from reprise_job where id = ?", id);
        }
        if (renew) {
            session.update("delete from reprise_attempt where job_id = ?", id);
            session.update(
                    dialect.sql(
                            "update reprise_idempotency {by reprise_idempotency_job} set job_id = ? where job_id = ?"),
                    target,
                    id);
        } else {
            // Counters that begin anew would let the history grow with every replay.
            attempts.trim(session, id);
        }
        if (dialect.insertUnlessThere(session, dialect.sql(INSERT), values(session, job, target, fence, revival))
                == 0) {
            throw new KeyTaken();
        }
        Audit.write(session, revival.action(), id, null, note, revival.detail(id, target));
        return new Revived(Result.DONE, target);
    }

    /** Another live job took the unique key in the same moment: nothing of the revival may stay. */
    static final class KeyTaken extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private static void leaveLeases(Session session, JobId id) throws SQLException {
        for (long token : session.list(LISTED, Row::number, id)) {
            session.update(session.dialect().leaveSql(), id, token);
        }
    }

    private @Nullable Object[] values(Session session, Job job, JobId target, Fence fence, Revival revival)
            throws SQLException {
        JobSpec spec = edited(job.spec(), revival.edit());
        @Nullable Object[] columns = specs.values(spec);
        columns[Specs.POLICY] = fence.policy();
        boolean reset = revival.resetCounts();
        long now = session.now();
        long due = now + Micros.of(revival.delay());
        Duration window = revival.window();
        JobCounts counts = reset ? JobCounts.NONE : job.counts();
        JobStatus.LastError error = job.status().lastError();
        var progress = job.status().progress();
        return Inserts.concat(
                new @Nullable Object[] {
                    target,
                    target.equals(job.id()) ? Micros.of(job.times().createdAt()) : now,
                    due,
                    window == null ? Micros.of(job.times().firstDueAt()) : due,
                    window == null ? null : due + Micros.of(window),
                    fence.token(),
                    reset ? 0 : fence.lane() % PARKED,
                    counts.attempts(),
                    counts.losses(),
                    counts.interruptions(),
                    counts.snoozes(),
                    Math.addExact(counts.granted(), revival.grant()),
                    reset ? null : Micros.ofNullable(job.times().lastDelay()),
                    error == null ? null : error.type(),
                    error == null ? null : error.message(),
                    error == null ? null : error.fingerprint(),
                    progress == null ? null : progress.percent(),
                    progress == null ? null : progress.message()
                },
                columns);
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
