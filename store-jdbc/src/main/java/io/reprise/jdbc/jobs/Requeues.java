// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.jdbc.rows.AuditTable;
import io.reprise.jdbc.rows.StepTable;
import io.reprise.jdbc.sql.Batches;
import io.reprise.jdbc.sql.Counters;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.jdbc.sql.StoredLane;
import io.reprise.jdbc.sql.UniqueKeyTaken;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.step.StepEdit;
import io.reprise.store.Requeue;
import io.reprise.store.RequeueResult;
import io.reprise.store.RequeueResult.Result;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Puts dead letters and waiting jobs back: it deletes the old row and inserts a new one with the same facts. */
public final class Requeues {

    private static final String FAILED = """
            select token, lane, policy
              from {finished}
             where id = ? and state = 'FAILED'
            {for_update}
            """;

    // The lock of the queue does not keep the expiry of a deadline away.
    private static final String PENDING = """
            select token, lane, policy
              from reprise_job
             where id = ? and due_at is not null
            {for_update}
            """;

    // A lease may still list a job that failed under it. The token is spent, but claims skip every listed job.
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

    private final JobRows jobs;
    private final SpecColumns specs;
    private final Attempts attempts;

    public Requeues(JobRows jobs, SpecColumns specs, Attempts attempts) {
        this.jobs = jobs;
        this.specs = specs;
        this.attempts = attempts;
    }

    /** The policy is kept as it is stored, whether or not this version can read it. */
    private record Fence(long token, int lane, @Nullable Long policy) {}

    public RequeueResult requeue(Session session, JobId id, Requeue requeue, AuditNote note) throws SQLException {
        Dialect dialect = session.dialect();
        Optional<Job> job = lockedJob(session, id);
        if (job.isEmpty() || !isWaiting(job.get())) {
            return refused(job.isEmpty() ? Result.MISSING : Result.NOT_WAITING);
        }
        if (job.get().isHeldByBatch()) {
            return refused(Result.FOLLOWS);
        }
        boolean failed = job.get().state() == JobState.FAILED;
        Optional<Fence> fence = session.first(
                dialect.sql(failed ? FAILED : PENDING),
                row -> new Fence(row.number(), row.integer(), row.numberOrNull()),
                id);
        if (fence.isEmpty()) {
            return refused(Result.NOT_WAITING);
        }
        // A dead letter may have been put back, and have failed again, before its row was locked.
        job = jobs.find(session, id);
        if (job.isEmpty()) {
            return refused(Result.MISSING);
        }
        String key = job.get().spec().key();
        if (key != null && session.first(KEY_HOLDER, SqlRow::number, key, id).isPresent()) {
            return refused(Result.KEY_TAKEN);
        }
        StepEdit steps = requeue.edit().steps();
        if (steps != null) {
            if (!StepTable.edit(session, id, steps)) {
                return refused(Result.NO_STEP);
            }
            AuditTable.write(session, steps.action(), id, null, note, steps.detail());
        }
        return put(session, job.get(), fence.get(), requeue, note);
    }

    /** Changes the steps of a job that does not run. The lock of its queue keeps claims away. */
    public StepEdit.Result editSteps(Session session, JobId id, StepEdit edit, AuditNote note) throws SQLException {
        Optional<Job> job = lockedJob(session, id);
        if (job.isEmpty()) {
            return StepEdit.Result.MISSING;
        }
        if (job.get().state() == JobState.RUNNING) {
            return StepEdit.Result.RUNNING;
        }
        if (!StepTable.edit(session, id, edit)) {
            return StepEdit.Result.NO_STEP;
        }
        AuditTable.write(session, edit.action(), id, null, note, edit.detail());
        return StepEdit.Result.DONE;
    }

    private static final String ALL_FAILED = """
            select id, token, lane, policy
              from {finished} {by primary}
             where id {in ?} and state = 'FAILED'
             order by id
            {for_update}
            """;

    private static final String ALL_LISTED = """
            select h.id, h.token
              from reprise_held h
             where h.id {in ?}
            """;

    private static final String FULL = """
            select job_id
              from reprise_attempt {by primary}
             where job_id {in ?}
             group by job_id
            having count(*) >= ?
            """;

    /**
     * Puts dead letters back in a few statements, whatever their number. Returns answers only for jobs that
     * it put back. It leaves out jobs with a unique key or a new id. Claims do not wait for it, because they
     * never take dead letters.
     */
    public Map<JobId, RequeueResult> requeueAll(Session session, Map<JobId, Requeue> requeues, AuditNote note)
            throws SQLException {
        Dialect dialect = session.dialect();
        dialect.preferIndexes(session);
        Map<JobId, RequeueResult> answers = new HashMap<>();
        for (long[] piece : dialect.pieces(
                requeues.keySet().stream().mapToLong(JobId::value).sorted().toArray())) {
            Map<Long, Fence> fences = new HashMap<>();
            session.list(
                    dialect.sql(ALL_FAILED),
                    row -> fences.put(row.number(), new Fence(row.number(), row.integer(), row.numberOrNull())),
                    (Object) piece);
            if (dialect.movesFinished()) {
                fences.keySet().removeAll(moveBack(session, fences.keySet(), requeues, answers));
            }
            List<Job> dead = new ArrayList<>();
            for (Job job : fences.isEmpty() ? List.<Job>of() : jobs.find(session, fences.keySet())) {
                Requeue requeue = Objects.requireNonNull(requeues.get(job.id()));
                if (job.state() == JobState.FAILED
                        && job.spec().key() == null
                        && requeue.edit().steps() == null
                        && !requeue.edit().newId()) {
                    dead.add(job);
                }
            }
            if (!dead.isEmpty()) {
                putAll(session, dead, fences, requeues);
            }
            dead.forEach(job -> answers.put(job.id(), new RequeueResult(Result.DONE, job.id())));
        }
        if (!answers.isEmpty()) {
            String action = requeues.values().iterator().next().action();
            AuditTable.writeAll(session, action, answers.keySet(), note, id -> detail(requeues, id));
        }
        return answers;
    }

    // Copies unchanged columns from table to table. It leaves out jobs with unique keys.
    private static final String MOVE = """
            insert into reprise_job (
              id, created_at, due_at, first_due_at, deadline, wait_reason, token, lane, attempts, losses, interruptions,
              snoozes, granted, last_delay_us, error_type, error_message, fingerprint, progress, progress_message, {spec})
            select id, created_at, {due}, {first_due}, {deadline}, 'MANUAL', token, {counts}, error_type,
                   error_message, fingerprint, progress, progress_message, {spec}
              from reprise_finished {by primary}
             where id {in :ids} and state = 'FAILED' and unique_key is null
            """;

    private static final String KEPT =
            "lane % 3, attempts, losses, interruptions, snoozes, granted + :grant, last_delay_us";
    private static final String RESET = "0, 0, 0, 0, 0, :grant, null";

    private static final String MOVED = """
            select id, queue, case when chain like '@%' then chain end, created_at
              from reprise_job {by primary}
             where id {in ?}
            """;

    /** Moves jobs that need no edit, without reading them. The caller has locked their rows. Returns the moved ids. */
    private Set<Long> moveBack(
            Session session, Set<Long> ids, Map<JobId, Requeue> requeues, Map<JobId, RequeueResult> answers)
            throws SQLException {
        Map<Requeue, List<Long>> alike = new HashMap<>();
        for (long id : ids) {
            Requeue requeue = Objects.requireNonNull(requeues.get(new JobId(id)));
            if (requeue.edit().equals(Requeue.Edit.NONE)) {
                alike.computeIfAbsent(requeue, each -> new ArrayList<>()).add(id);
            }
        }
        Set<Long> moved = new HashSet<>();
        for (Map.Entry<Requeue, List<Long>> some : alike.entrySet()) {
            long[] piece =
                    some.getValue().stream().mapToLong(Long::longValue).sorted().toArray();
            moved.addAll(moveBack(session, some.getKey(), piece));
        }
        moved.forEach(id -> answers.put(new JobId(id), new RequeueResult(Result.DONE, new JobId(id))));
        return moved;
    }

    private Set<Long> moveBack(Session session, Requeue requeue, long[] ids) throws SQLException {
        Dialect dialect = session.dialect();
        Long window = SqlTime.ofNullable(requeue.window());
        Long at = SqlTime.ofNullable(requeue.dueAt());
        Params params = Params.of("delay", SqlTime.of(requeue.delay()))
                .and("at", at)
                .and("window", window)
                .and("grant", requeue.grant())
                .and("ids", ids);
        String sql = MOVE.replace("{first_due}", window == null ? "first_due_at" : "{due}")
                .replace("{deadline}", window == null ? "null" : "{due} + :window")
                .replace("{due}", at == null ? "{now} + :delay" : "case when :at > {now} then :at else {now} end")
                .replace("{counts}", requeue.resetCounts() ? RESET : KEPT);
        session.update(dialect.sql(sql), params);
        Counters.Sums sums = new Counters.Sums();
        List<Batches.Revived> revived = new ArrayList<>();
        Set<Long> moved = new HashSet<>();
        session.list(
                dialect.sql(MOVED),
                row -> {
                    long id = row.number();
                    moved.add(id);
                    sums.add(row.text(), JobState.FAILED, -1);
                    revived.add(new Batches.Revived(new JobId(id), row.textOrNull(), row.instant()));
                    return 1;
                },
                (Object) ids);
        if (!moved.isEmpty()) {
            leaveAll(session, moved.stream().mapToLong(Long::longValue).sorted().toArray());
            sums.write(session);
            Batches.revive(session, revived);
        }
        return moved;
    }

    private static String detail(Map<JobId, Requeue> requeues, JobId id) {
        return Objects.requireNonNull(requeues.get(id)).detail(id, id);
    }

    /** Removes these dead letters from the lists of leases and from their table. */
    private void leaveAll(Session session, long[] ids) throws SQLException {
        Dialect dialect = session.dialect();
        List<@Nullable Object[]> listed = new ArrayList<>();
        session.list(
                dialect.sql(ALL_LISTED),
                row -> listed.add(new @Nullable Object[] {row.number(), row.number()}),
                (Object) ids);
        if (!listed.isEmpty()) {
            session.updateEach(dialect.leaveSql(), listed);
        }
        session.update(dialect.sql("delete from {finished} where id {in ?}"), (Object) ids);
        StepTable.forgetFailed(session, ids);
        attempts.trim(session, session.list(dialect.sql(FULL), SqlRow::number, ids, attempts.kept()));
    }

    private void putAll(Session session, List<Job> dead, Map<Long, Fence> fences, Map<JobId, Requeue> requeues)
            throws SQLException {
        Dialect dialect = session.dialect();
        leaveAll(
                session,
                dead.stream().mapToLong(job -> job.id().value()).sorted().toArray());
        Counters.Sums sums = new Counters.Sums();
        dead.forEach(job -> sums.add(job.queue(), JobState.FAILED, -1));
        sums.write(session);
        List<@Nullable Object[]> rows = new ArrayList<>();
        long now = session.now();
        for (Job job : dead) {
            Fence fence = Objects.requireNonNull(fences.get(job.id().value()));
            Requeue requeue = Objects.requireNonNull(requeues.get(job.id()));
            rows.add(values(now, job, job.id(), fence, requeue));
        }
        session.updateEach(dialect.sql(INSERT), rows);
        List<Batches.Revived> revived = new ArrayList<>();
        dead.forEach(job -> revived.add(revived(job, job.id())));
        Batches.revive(session, revived);
    }

    private static Batches.Revived revived(Job job, JobId now) {
        String column = Batches.column(job.spec().batch(), job.spec().chain());
        return new Batches.Revived(now, column, job.times().createdAt());
    }

    private static RequeueResult refused(Result why) {
        return new RequeueResult(why, null);
    }

    /**
     * Returns the job after locking its queue. The job may move to another queue during the wait, so it checks again.
     */
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

    private RequeueResult put(Session session, Job job, Fence fence, Requeue requeue, AuditNote note)
            throws SQLException {
        Dialect dialect = session.dialect();
        JobId id = job.id();
        boolean renew = requeue.edit().newId();
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
            session.update("delete from reprise_log where job_id = ?", id);
            StepTable.forget(session, id.value());
            session.update(
                    dialect.sql(
                            "update reprise_idempotency {by reprise_idempotency_job} set job_id = ? where job_id = ?"),
                    target,
                    id);
        } else {
            // A replay resets the counters, so they no longer bound the history. It is trimmed here.
            attempts.trim(session, id);
            if (requeue.edit().steps() == null) {
                StepTable.forgetFailed(session, id.value());
            }
        }
        if (dialect.insertUnlessThere(session, dialect.sql(INSERT), values(session.now(), job, target, fence, requeue))
                == 0) {
            throw new UniqueKeyTaken();
        }
        if (job.state() == JobState.FAILED) {
            Batches.revive(session, List.of(revived(job, target)));
        }
        AuditTable.write(session, requeue.action(), id, null, note, requeue.detail(id, target));
        return new RequeueResult(Result.DONE, target);
    }

    private static void leaveLeases(Session session, JobId id) throws SQLException {
        for (long token : session.list(LISTED, SqlRow::number, id)) {
            session.update(session.dialect().leaveSql(), id, token);
        }
    }

    private @Nullable Object[] values(long now, Job job, JobId target, Fence fence, Requeue requeue) {
        JobSpec spec = requeue.edit().applyTo(job.spec());
        @Nullable Object[] columns = specs.values(spec);
        columns[SpecColumns.POLICY] = fence.policy();
        boolean reset = requeue.resetCounts();
        long due = SqlTime.of(requeue.due(SqlTime.instant(now)));
        Duration window = requeue.window();
        JobCounts counts = reset ? JobCounts.NONE : job.counts();
        JobStatus.LastError error = job.status().lastError();
        var progress = job.status().progress();
        return JobInserts.concat(
                new @Nullable Object[] {
                    target,
                    target.equals(job.id()) ? SqlTime.of(job.times().createdAt()) : now,
                    due,
                    window == null ? SqlTime.of(job.times().firstDueAt()) : due,
                    window == null ? null : due + SqlTime.of(window),
                    fence.token(),
                    reset ? StoredLane.FRESH : fence.lane() % StoredLane.PARKED,
                    counts.attempts(),
                    counts.losses(),
                    counts.interruptions(),
                    counts.snoozes(),
                    Math.addExact(counts.granted(), requeue.grant()),
                    reset ? null : SqlTime.ofNullable(job.times().lastDelay()),
                    error == null ? null : error.type(),
                    error == null ? null : error.message(),
                    error == null ? null : error.fingerprint(),
                    progress == null ? null : progress.percent(),
                    progress == null ? null : progress.message()
                },
                columns);
    }
}
