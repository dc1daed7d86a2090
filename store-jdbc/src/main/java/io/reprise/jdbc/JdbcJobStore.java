// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.batch.BatchMember;
import io.reprise.batch.BatchState;
import io.reprise.fairness.FlowGate;
import io.reprise.fairness.GroupRules;
import io.reprise.insight.Activity;
import io.reprise.insight.ActivityPeriod;
import io.reprise.insight.Alert;
import io.reprise.insight.Behind;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.CostEntry;
import io.reprise.insight.DeadGroup;
import io.reprise.insight.Evidence;
import io.reprise.insight.LogLine;
import io.reprise.insight.QueuePosition;
import io.reprise.insight.StoredBytes;
import io.reprise.insight.WaitingError;
import io.reprise.jdbc.jobs.Attempts;
import io.reprise.jdbc.jobs.DeadlineExpiry;
import io.reprise.jdbc.jobs.Followers;
import io.reprise.jdbc.jobs.JobInserts;
import io.reprise.jdbc.jobs.JobRows;
import io.reprise.jdbc.jobs.JobUpkeep;
import io.reprise.jdbc.jobs.LeaseClosing;
import io.reprise.jdbc.jobs.LeaseTable;
import io.reprise.jdbc.jobs.ScheduleTable;
import io.reprise.jdbc.jobs.TableSizes;
import io.reprise.jdbc.jobs.Transitions;
import io.reprise.jdbc.rows.ActivityTable;
import io.reprise.jdbc.rows.AlertTable;
import io.reprise.jdbc.rows.AuditTable;
import io.reprise.jdbc.rows.ControlEventTable;
import io.reprise.jdbc.rows.ControlTable;
import io.reprise.jdbc.rows.DocumentTable;
import io.reprise.jdbc.rows.FlowTable;
import io.reprise.jdbc.rows.InsightTables;
import io.reprise.jdbc.rows.LogTable;
import io.reprise.jdbc.rows.NamedPauses;
import io.reprise.jdbc.rows.QueueTable;
import io.reprise.jdbc.rows.RestoreMark;
import io.reprise.jdbc.rows.RoleTable;
import io.reprise.jdbc.rows.StepTable;
import io.reprise.jdbc.rows.UpkeepLag;
import io.reprise.jdbc.rows.WaitingErrors;
import io.reprise.jdbc.rows.WorkerTable;
import io.reprise.jdbc.sql.Batches;
import io.reprise.jdbc.sql.Counters;
import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.Database.Refusal;
import io.reprise.jdbc.sql.Endings;
import io.reprise.jdbc.sql.Migrations;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.jdbc.sql.StoreWakeups;
import io.reprise.jdbc.sql.UniqueKeyTaken;
import io.reprise.job.Attempt;
import io.reprise.job.AuditEntry;
import io.reprise.job.AuditNote;
import io.reprise.job.Cancellation;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobChange;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.Page;
import io.reprise.job.Progress;
import io.reprise.job.QueueState;
import io.reprise.job.StoredSchedule;
import io.reprise.job.Transaction;
import io.reprise.job.WaitReason;
import io.reprise.job.WorkerReport;
import io.reprise.job.WorkerState;
import io.reprise.step.Checkpoint;
import io.reprise.step.StepEdit;
import io.reprise.step.StepList;
import io.reprise.step.Telling;
import io.reprise.store.ActivityQuery;
import io.reprise.store.Claim;
import io.reprise.store.ClaimPlan;
import io.reprise.store.ClaimRequest;
import io.reprise.store.ControlRow;
import io.reprise.store.Document;
import io.reprise.store.DueQueues;
import io.reprise.store.Firing;
import io.reprise.store.JobStore;
import io.reprise.store.JobWriter;
import io.reprise.store.LogPart;
import io.reprise.store.LostClaim;
import io.reprise.store.Renewal;
import io.reprise.store.Requeue;
import io.reprise.store.RequeueResult;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.store.Unparking;
import io.reprise.store.WorkerCounts;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A store in SQLite, PostgreSQL, MySQL or MariaDB. Each wait for a connection and each statement is bounded by the
 * timeout of the builder.
 *
 * <p>Thread-safe. Several stores, in one process or in many, may use the same database. Call {@link #prepare} before
 * any other method; a Reprise does so when it starts. The tables are not an API.
 *
 * @since 0.1.0
 */
public final class JdbcJobStore implements JobStore {

    private final Database database;
    private final AtomicLong nextLookForUnclosed = new AtomicLong(System.nanoTime());
    private final StoreWakeups wakeups;
    private final AtomicBoolean listens = new AtomicBoolean();
    private final Parts parts;
    private final DeadlineExpiry expiry;
    private final CommitGroup<JobSpec, Enqueued> singles = new CommitGroup<>(this::insertAll);
    /** How many groups of steps are written at once, where a group is one statement. */
    private static final int STEP_WRITERS = 2;

    /** How many runs of a job keep their log lines. */
    private static final int KEPT_LOGS = 25;

    private final CommitGroup<Checkpoint, Checkpoint.Answer> steps;

    /** Many runs begin together, and each reads the steps of its job. */
    private final CommitGroup<JobId, StepList> stepReads = new CommitGroup<>(this::stepsOf);

    JdbcJobStore(Database database, StoreWakeups wakeups, Parts parts) {
        this.database = database;
        this.wakeups = wakeups;
        this.parts = parts;
        this.steps = new CommitGroup<>(parts.stepsTogether() == null ? 1 : STEP_WRITERS, this::checkpointAll);
        this.expiry = new DeadlineExpiry(database, parts.transitions());
    }

    /** Opens a store in an SQLite file with default settings; see {@link JdbcStoreBuilder#sqlite(Path)}. */
    public static JdbcJobStore sqlite(Path file) {
        return builder().sqlite(file);
    }

    /**
     * Opens a store in PostgreSQL with default settings; see
     * {@link JdbcStoreBuilder#postgresql(String, String, String)}.
     *
     * @param jdbcUrl URL that begins with {@code jdbc:postgresql:}
     * @param user name of the database user; null if the URL has it or none is needed
     * @param password password of the user; null if the URL has it or none is needed
     * @throws IllegalArgumentException if the driver does not understand the URL
     */
    public static JdbcJobStore postgresql(String jdbcUrl, @Nullable String user, @Nullable String password) {
        return builder().postgresql(jdbcUrl, user, password);
    }

    /** Opens a store in PostgreSQL with default settings; see {@link JdbcStoreBuilder#postgresql(DataSource)}. */
    public static JdbcJobStore postgresql(DataSource source) {
        return builder().postgresql(source);
    }

    /**
     * Opens a store in MySQL or MariaDB with default settings; see
     * {@link JdbcStoreBuilder#mysql(String, String, String)}.
     *
     * @param jdbcUrl URL that begins with {@code jdbc:mariadb:} or {@code jdbc:mysql:}; its driver must be on the class
     *     path
     * @param user name of the database user; null if the URL has it or none is needed
     * @param password password of the user; null if the URL has it or none is needed
     */
    public static JdbcJobStore mysql(String jdbcUrl, @Nullable String user, @Nullable String password) {
        return builder().mysql(jdbcUrl, user, password);
    }

    /** Opens a store in MySQL or MariaDB with default settings; see {@link JdbcStoreBuilder#mysql(DataSource)}. */
    public static JdbcJobStore mysql(DataSource source) {
        return builder().mysql(source);
    }

    /**
     * Opens a store by URL with default settings; see {@link JdbcStoreBuilder#open(String)}.
     *
     * @param url {@code sqlite:jobs.db}, {@code postgresql://user:password@host:5432/database}, {@code mariadb://…},
     *     {@code mysql://…}, or the JDBC URL of one of them
     * @throws IllegalArgumentException if the URL is of another kind or not complete
     */
    public static JdbcJobStore open(String url) {
        return builder().open(url);
    }

    /** Returns a builder with default settings. */
    public static JdbcStoreBuilder builder() {
        return new JdbcStoreBuilder();
    }

    @Override
    public void prepare() {
        database.requireLogin();
        run("prepare the schema", Migrations::apply);
    }

    @Override
    public void requirePrepared() {
        database.requireLogin();
        run("look at the schema", Migrations::require);
    }

    /**
     * Makes a database usable that was restored from a backup. Call it once after the restore, before any worker or
     * client uses the database. The database user must own the tables.
     *
     * <p>Ids, tokens and versions continue far above all values that may have been given out since the backup. All
     * leases, workers and roles are deleted, so jobs that ran at the time of the backup run again.
     *
     * @throws io.reprise.store.StoreException if the database fails or refuses; then nothing changed
     */
    public void afterRestore() {
        run("make the database fit for use", session -> {
            List<Long> leases = RestoreMark.leases(session);
            if (!leases.isEmpty()) {
                // As workers do that stop: a job that was asked to stop is cancelled, and its batch counts it.
                parts.transitions().settle(session, List.of(), LeaseClosing.of(leases));
            }
            RestoreMark.repair(session);
        });
    }

    @Override
    public Instant now() {
        return SqlTime.instant(database.read("tell the time", Session::now));
    }

    @Override
    public JobWriter within(Transaction transaction) {
        if (!(transaction instanceof JdbcTransaction jdbc)) {
            throw new IllegalArgumentException(
                    "This store takes part in JDBC transactions only: pass a JdbcTransaction, not "
                            + transaction.getClass().getName());
        }
        return new JoinedWriter(database, jdbc, parts);
    }

    @Override
    public List<Enqueued> insert(List<JobSpec> specs) {
        if (specs.isEmpty()) {
            return List.of();
        }
        boolean alone = specs.size() == 1 && JobInserts.isPlain(specs.get(0));
        return alone ? List.of(singles.write(specs.get(0))) : insertAll(specs);
    }

    private List<Enqueued> insertAll(List<JobSpec> specs) {
        boolean one = parts.inserts().isOneStatement(specs);
        boolean tells = one && wakeups.notifiesWithInsert();
        Database.Work<List<Enqueued>> work = session -> parts.inserts().insert(session, specs, tells);
        List<Enqueued> inserted = one
                ? database.send("store a job", JdbcJobStore::foundAll, work)
                : database.write("store " + specs.size() + " jobs", JdbcJobStore::foundAll, work);
        committed(specs);
        if (tells) {
            wakeups.announced();
        } else {
            wakeups.announce();
        }
        return inserted;
    }

    private void committed(List<JobSpec> specs) {
        parts.policies()
                .committed(specs.stream().map(JobSpec::policy).distinct().toList());
        parts.claims().woken();
    }

    /** Whether each job was there before, so that nothing was stored. */
    static boolean foundAll(List<Enqueued> answers) {
        return answers.stream().noneMatch(Enqueued::created);
    }

    @Override
    public Settled settle(List<Settlement> settlements, Collection<Long> closing) {
        return settle(settlements, LeaseClosing.of(closing));
    }

    @Override
    public Settled settle(List<Settlement> settlements) {
        return settle(settlements, LeaseClosing.EMPTY);
    }

    private Settled settle(List<Settlement> settlements, LeaseClosing closing) {
        Database.Work<Settled> work = session -> parts.transitions().settle(session, settlements, closing);
        String what = "settle " + settlements.size() + " jobs";
        if (parts.transitions().isOneStatement(settlements)) {
            return database.send(what, Transitions.refusal(settlements, closing), work);
        }
        boolean followed = Transitions.hasFollowUps(settlements);
        if (followed) {
            // Policies are stored ahead: the transaction knows only later which follow-up jobs it stores.
            parts.policies().storeAhead(database, Transitions.policies(settlements));
        }
        Settled settled = database.write(what, Transitions.refusal(settlements, closing), work);
        parts.claims().settled(settlements);
        if (followed) {
            parts.claims().woken();
            wakeups.announce();
        }
        return settled;
    }

    @Override
    public List<Claim> claim(ClaimRequest request) {
        ClaimRequest open = NamedPauses.without(database, request);
        if (open.demands().isEmpty()) {
            return List.of();
        }
        List<Claim> claims = ClaimPlan.withoutFullTypes(
                open, demand -> flow(demand.queue(), demand.rules(), null).fullTypes(), parts.claims()::claim);
        if (!claims.isEmpty()) {
            wakeups.claimed();
        }
        return claims;
    }

    @Override
    public Renewal renew(String worker, Collection<Long> tokens, Duration lease) {
        return tokens.isEmpty()
                ? new Renewal(Set.of(), Set.of())
                : database.write(
                        "renew leases",
                        renewal -> !renewal.lost().isEmpty(),
                        session -> parts.leases().renew(session, worker, tokens, lease));
    }

    @Override
    public void excuse(String worker, Collection<Long> tokens, boolean excused) {
        if (!tokens.isEmpty()) {
            database.write("excuse leases", Refusal.never(), session -> {
                LeaseTable.excuse(session, worker, tokens, excused);
                return true;
            });
        }
    }

    @Override
    public List<LostClaim> takeOver(String taker, Duration lease, int maxLeases) {
        return database.write(
                "take over leases",
                Refusal.never(),
                session -> parts.leases().takeOver(session, taker, lease, maxLeases));
    }

    @Override
    public int dropEmptyLeases(int max) {
        return database.write(
                "drop empty leases",
                Refusal.never(),
                session -> session.dialect().dropEmptyLeases(session, max));
    }

    @Override
    public boolean progress(JobId job, long token, Progress progress) {
        return database.send(
                "keep progress of job " + job,
                Refusal.never(),
                session -> parts.leases().progress(session, job, token, progress));
    }

    @Override
    public List<Checkpoint.Answer> checkpoint(List<Checkpoint> checkpoints) {
        if (checkpoints.isEmpty()) {
            return List.of();
        }
        return checkpoints.size() == 1 ? List.of(steps.write(checkpoints.get(0))) : checkpointAll(checkpoints);
    }

    /** Writes what can be written together, and the rest in a transaction: it says why a row was not written. */
    private List<Checkpoint.Answer> checkpointAll(List<Checkpoint> checkpoints) {
        Set<Checkpoint> written = new HashSet<>();
        StepTable.Together together = parts.stepsTogether();
        List<Checkpoint> plain = together == null ? List.of() : StepTable.together(checkpoints);
        if (together != null && !plain.isEmpty()) {
            Set<StepTable.Place> places = Set.copyOf(
                    database.send(storing(plain), Refusal.never(), session -> together.insert(session, plain)));
            plain.stream()
                    .filter(each -> places.contains(StepTable.place(each)))
                    .forEach(written::add);
        }
        List<Checkpoint> left =
                checkpoints.stream().filter(each -> !written.contains(each)).toList();
        if (left.isEmpty()) {
            return Collections.nCopies(checkpoints.size(), Checkpoint.Answer.WRITTEN);
        }
        Iterator<Checkpoint.Answer> answers = database.write(
                        storing(left), JdbcJobStore::isRefused, session -> StepTable.checkpoint(session, left))
                .iterator();
        return checkpoints.stream()
                .map(each -> written.contains(each) ? Checkpoint.Answer.WRITTEN : answers.next())
                .toList();
    }

    private static String storing(List<Checkpoint> checkpoints) {
        return "store " + checkpoints.size() + " steps";
    }

    /** Whether the caller acts upon an answer that says that nothing was written. */
    static boolean isRefused(List<Checkpoint.Answer> answers) {
        return answers.stream().anyMatch(answer -> answer != Checkpoint.Answer.WRITTEN);
    }

    @Override
    public void writeLog(List<LogPart> parts) {
        if (!parts.isEmpty()) {
            run("write log lines", session -> LogTable.write(session, parts, KEPT_LOGS));
        }
    }

    @Override
    public List<LogLine> log(JobId job, long from) {
        return database.read("read the log of job " + job, session -> LogTable.find(session, job, from));
    }

    @Override
    public StepList steps(JobId job) {
        return stepReads.write(job);
    }

    private List<StepList> stepsOf(List<JobId> jobs) {
        return database.read("find steps of " + jobs.size() + " jobs", session -> StepTable.findFirst(session, jobs));
    }

    @Override
    public Telling tell(JobId job, String name, String type, String value) {
        Telling answer = database.write(
                "tell job " + job,
                telling -> telling != Telling.TOLD,
                session -> StepTable.tell(session, job, name, type, value));
        if (answer == Telling.TOLD) {
            parts.claims().woken();
            wakeups.announce();
        }
        return answer;
    }

    @Override
    public StepEdit.Result editSteps(JobId job, StepEdit edit, AuditNote note) {
        StepEdit.Result answer = database.write(
                edit.action() + " of job " + job,
                result -> result != StepEdit.Result.DONE,
                session -> parts.requeues().editSteps(session, job, edit, note));
        if (answer == StepEdit.Result.DONE) {
            parts.claims().woken();
            wakeups.announce();
        }
        return answer;
    }

    @Override
    public boolean createBatch(String name, @Nullable JobSpec onSuccess, @Nullable JobSpec onEnd) {
        boolean created = database.write(
                "create a batch",
                made -> !made,
                session -> parts.transitions().createBatch(session, name, onSuccess, onEnd));
        if (created) {
            committed(Stream.of(onSuccess, onEnd).filter(Objects::nonNull).toList());
        }
        return created;
    }

    @Override
    public Optional<BatchState> batch(String name) {
        return database.read("find a batch", session -> Batches.find(session, name));
    }

    @Override
    public Page<BatchState> batches(String prefix, int limit, @Nullable String cursor) {
        return database.look("find batches", session -> Batches.page(session, prefix, limit, cursor));
    }

    @Override
    public Optional<BatchState> closeBatch(String name) {
        Optional<BatchState> before = database.write(
                "close a batch",
                batch -> batch.isEmpty() || batch.get().closedAt() != null,
                session -> Batches.close(session, name));
        parts.claims().woken();
        wakeups.announce();
        return before;
    }

    @Override
    public Optional<BatchState> finishBatch(String name, AuditNote note) {
        Optional<BatchState> before = database.write(
                "finish a batch",
                batch -> batch.filter(BatchState::isFinishable).isEmpty(),
                session -> finish(session, name, note));
        parts.claims().woken();
        wakeups.announce();
        return before;
    }

    private static Optional<BatchState> finish(Session session, String name, AuditNote note) throws SQLException {
        Optional<BatchState> before = Batches.finish(session, name);
        if (before.isPresent() && before.get().isFinishable()) {
            String detail = "dead letters: " + before.get().dead();
            AuditTable.write(session, "finish-batch", null, "batch/" + name, note, detail);
        }
        return before;
    }

    @Override
    public List<BatchMember> members(String batch, int after, int limit) {
        return database.read("find members of a batch", session -> Batches.members(session, batch, after, limit));
    }

    @Override
    public List<Job> expire(int limit, Function<Job, List<JobSpec>> followUps) {
        return expiry.expire(limit, followUps);
    }

    @Override
    public int letFollow(int limit) {
        List<Followers.Free> free =
                database.read("look for jobs that follow", session -> Followers.free(session, limit));
        int freed = 0;
        for (Followers.Free job : free) {
            freed += letGo(job) ? 1 : 0;
        }
        return freed;
    }

    private boolean letGo(Followers.Free job) {
        try {
            return change("let job " + job.job() + " follow", session -> Followers.letGo(session, job));
        } catch (UniqueKeyTaken e) {
            // Another job has the key now. This one waits for its end.
            return false;
        }
    }

    @Override
    public int giveTurns(Duration waited, int limit) {
        // Most times there is nothing to write.
        boolean late = database.read("look for late jobs", session -> JobUpkeep.isAnyLate(session, waited));
        return late
                ? database.write(
                        "give jobs their turns",
                        Refusal.never(),
                        session -> JobUpkeep.giveTurns(session, waited, limit))
                : 0;
    }

    @Override
    public int lineUp(String queue, boolean byCreation, int limit) {
        // Most times there is nothing to write.
        boolean due = database.read("look for due retries", session -> JobUpkeep.isAnyRetryDue(session, queue));
        if (!due) {
            return 0;
        }
        int moved = database.write(
                "line up retries", Refusal.never(), session -> JobUpkeep.lineUp(session, queue, byCreation, limit));
        parts.claims().unparked();
        return moved;
    }

    @Override
    public Optional<Job> find(JobId id) {
        return database.read("find job " + id, session -> parts.jobs().find(session, id));
    }

    @Override
    public Page<Job> find(JobQuery query) {
        return database.look("find jobs", session -> parts.queries().find(session, query));
    }

    @Override
    public List<Attempt> attempts(JobId id) {
        return database.read(
                "find attempts of job " + id, session -> parts.attempts().find(session, id));
    }

    @Override
    public Map<JobId, List<Instant>> failures(Collection<JobId> jobs) {
        return database.read("find failures of " + jobs.size() + " jobs", session -> Attempts.failures(session, jobs));
    }

    @Override
    public Set<String> liveQueues() {
        return parts.claims().liveQueues();
    }

    @Override
    public DueQueues dueQueues(String after, String before, int looks) {
        return NamedPauses.without(database, parts.claims().dueQueues(after, before, looks));
    }

    @Override
    public List<QueueState> queues() {
        return database.look("count jobs", QueueTable::all);
    }

    @Override
    public int live(String queuePrefix, int most) {
        return database.look("count jobs", session -> QueueTable.live(session, queuePrefix, most));
    }

    @Override
    public int depth(String queue, int most) {
        return database.look("count jobs", session -> QueueTable.depth(session, queue, most));
    }

    @Override
    public void pause(String queue, AuditNote note) {
        run("pause queue " + queue, session -> QueueTable.pause(session, queue, note));
    }

    @Override
    public void resume(String queue, AuditNote note) {
        run("resume queue " + queue, session -> QueueTable.resume(session, queue, note));
        wakeups.announce();
    }

    @Override
    public void limit(String queue, @Nullable Integer maxRunning, AuditNote note) {
        run("limit queue " + queue, session -> QueueTable.limit(session, queue, maxRunning, note));
        wakeups.announce();
    }

    @Override
    public Cancellation cancel(JobId id, AuditNote note, List<JobSpec> followUps) {
        Cancellation answer = database.write(
                "cancel job " + id,
                cancellation -> cancellation == Cancellation.MISSING || cancellation == Cancellation.TOO_LATE,
                session -> parts.transitions().cancel(session, id, note, followUps));
        wakeups.announce();
        return answer;
    }

    @Override
    public RequeueResult requeue(JobId id, Requeue requeue, AuditNote note) {
        try {
            RequeueResult requeued = database.write(
                    requeue.action() + " job " + id,
                    result -> result.result() != RequeueResult.Result.DONE,
                    session -> parts.requeues().requeue(session, id, requeue, note));
            wakeups.announce();
            return requeued;
        } catch (UniqueKeyTaken e) {
            return new RequeueResult(RequeueResult.Result.KEY_TAKEN, null);
        }
    }

    @Override
    public boolean discard(JobId id, AuditNote note) {
        return change("discard job " + id, session -> {
            boolean deleted = !Endings.delete(session, List.of(id.value()), Long.MAX_VALUE)
                    .isEmpty();
            if (deleted) {
                AuditTable.write(session, "discard", id, null, note, null);
            }
            return deleted;
        });
    }

    @Override
    public Map<JobId, RequeueResult> requeueAll(Map<JobId, Requeue> requeues, AuditNote note) {
        Map<JobId, RequeueResult> answers = new HashMap<>(database.write(
                "requeue " + requeues.size() + " jobs",
                Refusal.never(),
                session -> parts.requeues().requeueAll(session, requeues, note)));
        // Jobs that cannot be requeued by one statement for many, such as jobs with unique keys.
        requeues.forEach((id, requeue) -> answers.computeIfAbsent(id, each -> requeue(each, requeue, note)));
        wakeups.announce();
        return answers;
    }

    @Override
    public Map<JobId, JobChange.Answer> changeAll(Map<JobId, JobChange> changes, AuditNote note) {
        Map<JobId, JobChange.Answer> answers = new HashMap<>();
        Map<JobId, JobChange> left = new HashMap<>(changes);
        // A job may move to another queue while the change waits for the lock of its queue. Then it has no answer yet.
        while (!left.isEmpty()) {
            Map<JobId, JobChange> some = Map.copyOf(left);
            answers.putAll(database.write(
                    "change " + some.size() + " jobs",
                    done -> !done.values().stream().allMatch(JobChange.Answer.DONE::equals),
                    session -> parts.changes().change(session, some, note)));
            left.keySet().removeAll(answers.keySet());
        }
        parts.policies()
                .committed(changes.values().stream()
                        .map(JobChange::policy)
                        .filter(Objects::nonNull)
                        .collect(Collectors.toSet()));
        // A changed job may lie before the place where the last claim ended.
        parts.claims().unparked();
        wakeups.announce();
        return answers;
    }

    @Override
    public Map<JobId, Cancellation> cancelAll(
            Collection<JobId> ids, AuditNote note, Function<Job, List<JobSpec>> followUps) {
        Map<JobId, Cancellation> answers = new HashMap<>();
        database.write(
                        "cancel " + ids.size() + " jobs",
                        Refusal.never(),
                        session -> parts.transitions().cancelAll(session, ids, note, followUps))
                .forEach(id -> answers.put(id, Cancellation.DONE));
        // Jobs that run, have ended, or were claimed after the statement above.
        for (JobId id : ids) {
            if (!answers.containsKey(id)) {
                answers.put(id, cancel(id, note, find(id).map(followUps).orElse(List.of())));
            }
        }
        wakeups.announce();
        return answers;
    }

    @Override
    public Set<JobId> discardAll(Collection<JobId> ids, AuditNote note) {
        return database.write("discard " + ids.size() + " jobs", gone -> gone.size() < ids.size(), session -> {
            session.dialect().preferIndexes(session);
            List<Long> wanted = ids.stream().map(JobId::value).toList();
            Set<JobId> gone = Endings.delete(session, wanted, Long.MAX_VALUE).stream()
                    .map(job -> new JobId(job.id()))
                    .collect(Collectors.toSet());
            AuditTable.writeAll(session, "discard", gone, note, id -> null);
            return gone;
        });
    }

    @Override
    public List<Job> findAll(Collection<JobId> ids) {
        List<Long> wanted = ids.stream().map(JobId::value).toList();
        return database.read("find jobs", session -> parts.jobs().find(session, wanted));
    }

    @Override
    public int prune(Set<JobState> states, Duration age, int limit) {
        return database.write("prune jobs", Refusal.never(), session -> JobUpkeep.prune(session, states, age, limit));
    }

    @Override
    public int pruneAudit(Duration age, int limit) {
        return database.write("prune the audit log", Refusal.never(), session -> AuditTable.prune(session, age, limit));
    }

    @Override
    public Optional<JobId> findByIdempotencyKey(String key) {
        return database.read("look for a key", session -> JobInserts.remembered(session, key));
    }

    @Override
    public Page<AuditEntry> audit(@Nullable JobId job, int limit, @Nullable String cursor) {
        long before = cursor == null ? Long.MAX_VALUE : Long.parseLong(cursor);
        return database.look("read the audit log", session -> AuditTable.read(session, job, limit, before));
    }

    @Override
    public void putSchedule(String name, String rule, JobSpec job, Instant nextAt, @Nullable AuditNote note) {
        run("store schedule " + name, session -> {
            parts.schedules().put(session, name, rule, job, nextAt);
            if (note != null) {
                AuditTable.write(session, "put-schedule", null, name, note, note.detail());
            }
        });
    }

    @Override
    public boolean removeSchedule(String name, @Nullable AuditNote note) {
        return change("remove schedule " + name, session -> ScheduleTable.remove(session, name, note));
    }

    @Override
    public boolean pauseSchedule(String name, boolean paused, AuditNote note) {
        return change("pause schedule " + name, session -> ScheduleTable.pause(session, name, paused, note));
    }

    @Override
    public Enqueued trigger(String name, JobSpec job, AuditNote note) {
        List<JobSpec> jobs = List.of(job);
        Enqueued made = database.write("trigger schedule " + name, Refusal.never(), session -> {
            Enqueued answer = parts.inserts().insert(session, jobs).get(0);
            AuditTable.write(session, "trigger-schedule", null, name, note, "as job " + answer.id());
            return answer;
        });
        committed(jobs);
        wakeups.announce();
        return made;
    }

    @Override
    public List<StoredSchedule> schedules() {
        return database.look("read schedules", parts.schedules()::all);
    }

    @Override
    public Optional<StoredSchedule> schedule(String name) {
        return database.read(
                "read schedule " + name, session -> parts.schedules().find(session, name));
    }

    @Override
    public List<StoredSchedule> dueSchedules(int limit, @Nullable StoredSchedule after) {
        return database.read("read due schedules", session -> parts.schedules().due(session, limit, after));
    }

    @Override
    public Optional<Instant> nextFiring() {
        return database.read("look for the next firing", ScheduleTable::nextFiring);
    }

    @Override
    public List<Optional<List<Enqueued>>> fireAll(List<Firing> firings) {
        List<Optional<List<Enqueued>>> fired = database.write(
                "fire " + firings.size() + " schedules",
                Refusal.never(),
                session -> parts.schedules().fire(session, firings));
        wakeups.announce();
        return fired;
    }

    @Override
    public Set<JobId> live(Collection<JobId> jobs) {
        return jobs.isEmpty() ? Set.of() : database.read("look for live jobs", session -> JobRows.live(session, jobs));
    }

    @Override
    public List<ControlRow> controls() {
        return database.read("read control state", ControlTable::all);
    }

    @Override
    public List<ControlRow> controls(Collection<String> names) {
        return database.read("read control state", session -> ControlTable.named(session, names));
    }

    @Override
    public List<ControlRow> controlsAfter(long version) {
        return database.read("read control state", session -> ControlTable.after(session, version));
    }

    @Override
    public List<OptionalLong> putControls(List<ControlRow> rows) {
        return rows.isEmpty()
                ? List.of()
                : database.write("store control state", Refusal.never(), session -> ControlTable.put(session, rows));
    }

    @Override
    public OptionalLong putControl(ControlRow row, String action, AuditNote note) {
        return database.write(
                action + " " + row.name(), Refusal.never(), session -> ControlTable.put(session, row, action, note));
    }

    @Override
    public Set<String> removeControls(List<ControlRow> rows) {
        return database.write("remove control state", Refusal.never(), session -> ControlTable.remove(session, rows));
    }

    @Override
    public Map<String, Long> parked() {
        return database.look("count parked jobs", ControlTable::parked);
    }

    @Override
    public Set<String> parkedBy() {
        return database.read("look for parked jobs", ControlTable::parkedBy);
    }

    @Override
    public List<Integer> unpark(List<Unparking> requests) {
        List<Integer> unparked =
                database.write("unpark jobs", Refusal.never(), session -> ControlTable.unpark(session, requests));
        if (unparked.stream().anyMatch(jobs -> jobs > 0)) {
            parts.claims().unparked();
            wakeups.announce();
        }
        return unparked;
    }

    @Override
    public void note(String action, String subject, AuditNote note, @Nullable String detail) {
        database.write(action + " " + subject, Refusal.never(), session -> {
            AuditTable.write(session, action, null, subject, note, detail);
            return true;
        });
    }

    @Override
    public Page<DeadGroup> deadGroups(JobQuery query, int limit) {
        return database.look("group dead letters", session -> parts.queries().deadGroups(session, query, limit));
    }

    @Override
    public Optional<Document> document(String kind, String id) {
        return database.read("read a document", session -> DocumentTable.find(session, kind, id));
    }

    @Override
    public Page<Document> documents(String kind, int limit, @Nullable String after) {
        return database.read("read documents", session -> DocumentTable.page(session, kind, limit, after));
    }

    @Override
    public OptionalLong putDocument(Document document) {
        return database.write(
                "store " + document.subject(),
                Refusal.never(),
                session -> DocumentTable.put(session, document, null, null));
    }

    @Override
    public OptionalLong putDocument(Document document, String action, AuditNote note) {
        return database.write(
                action + " " + document.subject(),
                Refusal.never(),
                session -> DocumentTable.put(session, document, action, note));
    }

    @Override
    public boolean removeDocument(Document document) {
        return database.write(
                "remove " + document.subject(),
                Refusal.never(),
                session -> DocumentTable.remove(session, document, null, null));
    }

    @Override
    public boolean removeDocument(Document document, String action, AuditNote note) {
        return database.write(
                action + " " + document.subject(),
                Refusal.never(),
                session -> DocumentTable.remove(session, document, action, note));
    }

    @Override
    public boolean lead(String role, String worker, Duration term) {
        return database.send("lead " + role, Refusal.never(), session -> RoleTable.lead(session, role, worker, term));
    }

    @Override
    public void resign(String role, String worker) {
        run("resign " + role, session -> RoleTable.resign(session, role, worker));
    }

    @Override
    public void maintain() {
        long newest =
                database.read("look at counters", session -> session.dialect().newestCount(session));
        int folded = database.dialect().countsPerFold();
        while (folded == database.dialect().countsPerFold()) {
            folded = database.write("fold counters", Refusal.never(), session -> Counters.fold(session, newest));
        }
        run("forget old counts", InsightTables::forget);
        run("forget old workers", WorkerTable::forget);
        run("forget old rates", FlowTable::forget);
        forgetHeads();
        while (database.write("forget old batches", Refusal.never(), Batches::forgetOld)) {
            // The next thousand.
        }
        giveUpUnclosedBatches();
    }

    /** No index finds them, so they are looked for once an hour. */
    private void giveUpUnclosedBatches() {
        long now = System.nanoTime();
        long due = nextLookForUnclosed.get();
        if (now - due < 0 || !nextLookForUnclosed.compareAndSet(due, now + TimeUnit.HOURS.toNanos(1))) {
            return;
        }
        List<String> names = database.read("look for unclosed batches", Batches::unclosed);
        while (!names.isEmpty()) {
            for (String name : names) {
                run("give up an unclosed batch", session -> Batches.giveUp(session, name));
            }
            List<String> more = database.read("look for unclosed batches", Batches::unclosed);
            // What stays was closed, or got members, meanwhile.
            names = more.equals(names) ? List.of() : more;
        }
    }

    private void forgetHeads() {
        FlowTable.Head after = FlowTable.Head.NONE;
        while (after != null) {
            FlowTable.Head from = after;
            after = database.write(
                            "forget ended heads", Refusal.never(), session -> FlowTable.forgetHeads(session, from))
                    .orElse(null);
        }
    }

    @Override
    public void addCounts(WorkerCounts workerCounts) {
        run("write down counts", session -> InsightTables.addCounts(session, workerCounts));
    }

    @Override
    public List<Evidence> evidence() {
        return database.read("read evidence", InsightTables::evidence);
    }

    @Override
    public List<CostEntry> spending(Duration age) {
        return database.look("read spending", session -> InsightTables.spending(session, age));
    }

    @Override
    public List<Activity> activity(Duration ago, int minutes) {
        return database.read("read activity", session -> ActivityTable.activity(session, ago, minutes));
    }

    @Override
    public void addControlEvents(List<ControlEvent> events) {
        run("keep changes of breakers", session -> ControlEventTable.add(session, events));
    }

    @Override
    public List<ControlEvent> controlEvents(String subject, int limit) {
        return database.read("read changes of breakers", session -> ControlEventTable.last(session, subject, limit));
    }

    @Override
    public List<ActivityPeriod> activity(ActivityQuery query) {
        return database.look("read activity", session -> ActivityTable.activity(session, query));
    }

    @Override
    public void checkIn(WorkerReport report, Duration ttl) {
        database.send("check in", Refusal.never(), session -> WorkerTable.checkIn(session, report, ttl));
    }

    @Override
    public void checkOut(String worker) {
        database.send("check out", Refusal.never(), session -> WorkerTable.checkOut(session, worker));
    }

    @Override
    public List<WorkerState> workers() {
        return database.read("read workers", WorkerTable::live);
    }

    @Override
    public Optional<QueuePosition> queuePosition(JobId id, int most) {
        return database.look(
                "see how job " + id + " stands",
                session -> parts.queuePositions().find(session, id, most));
    }

    @Override
    public FlowGate flow(String queue, GroupRules rules, @Nullable String group) {
        List<String> groups = group == null ? List.of() : List.of(group);
        return database.look(
                "look at the limits of queue " + queue, session -> FlowTable.gate(session, queue, rules, groups));
    }

    @Override
    public List<Behind> behind(Map<JobState, Duration> keep) {
        return database.look("look at upkeep", session -> UpkeepLag.of(session, keep));
    }

    @Override
    public Map<WaitReason, Long> waiting(int rows) {
        return database.look("count what jobs wait for", session -> QueueTable.waiting(session, rows));
    }

    @Override
    public Map<String, Long> groups(String queue, int rows) {
        return database.look("count jobs by group", session -> QueueTable.groups(session, queue, rows));
    }

    @Override
    public List<WaitingError> waitingErrors(@Nullable String queuePrefix, int rows) {
        return database.look("count errors of waiting jobs", session -> WaitingErrors.of(session, queuePrefix, rows));
    }

    @Override
    public StoredBytes bytes(@Nullable String cursor, int rows) {
        return database.read("measure payloads", session -> TableSizes.read(session, cursor, rows));
    }

    @Override
    public boolean raise(Alert alert) {
        return database.send("raise an alert", Refusal.never(), session -> AlertTable.raise(session, alert));
    }

    @Override
    public boolean clear(Alert alert) {
        return database.send("clear an alert", Refusal.never(), session -> AlertTable.clear(session, alert));
    }

    @Override
    public List<Alert> alerts() {
        return database.read("read alerts", AlertTable::all);
    }

    /**
     * Returns how many transactions were run again since the store was opened, because of a deadlock or a long wait for
     * a lock.
     */
    public long repeats() {
        return database.repeats();
    }

    @Override
    public void onWake(Runnable listener) {
        if (listens.compareAndSet(false, true)) {
            // The first listener: it must run before the workers' listeners, which claim.
            wakeups.add(parts.claims()::woken);
        }
        wakeups.add(listener);
    }

    @Override
    public void offWake(Runnable listener) {
        wakeups.remove(listener);
    }

    @Override
    public void wake() {
        parts.claims().woken();
        wakeups.announce();
    }

    /**
     * Changes the number of connections; see {@link JobStore#poolSize}. Nothing changes on SQLite, and on a pool of the
     * application ({@link JdbcStoreBuilder#pooled}).
     *
     * @throws IllegalArgumentException if the number is not 2 to 100
     */
    @Override
    public void poolSize(@Nullable Integer connections) {
        if (connections != null) {
            JdbcStoreBuilder.within("poolSize", connections, 2, 100);
        }
        database.poolSize(connections);
    }

    @Override
    public void close() {
        wakeups.close();
        database.close();
    }

    /** Runs a change that may find nothing to change. */
    private boolean change(String what, Database.Work<Boolean> work) {
        return database.write(what, changed -> !changed, work);
    }

    private interface Step {
        void on(Session session) throws java.sql.SQLException;
    }

    private void run(String what, Step step) {
        database.write(what, Refusal.never(), session -> {
            step.on(session);
            return true;
        });
    }
}
