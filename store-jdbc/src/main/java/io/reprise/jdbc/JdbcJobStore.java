// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.Alert;
import io.reprise.Attempt;
import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.JobState;
import io.reprise.Progress;
import io.reprise.Transaction;
import io.reprise.store.Activity;
import io.reprise.store.AuditEntry;
import io.reprise.store.Behind;
import io.reprise.store.Cancellation;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.ControlRow;
import io.reprise.store.DeadGroup;
import io.reprise.store.Document;
import io.reprise.store.DueQueues;
import io.reprise.store.Evidence;
import io.reprise.store.Findings;
import io.reprise.store.Firing;
import io.reprise.store.Inserted;
import io.reprise.store.JobQuery;
import io.reprise.store.JobStore;
import io.reprise.store.JobWriter;
import io.reprise.store.LostClaim;
import io.reprise.store.Note;
import io.reprise.store.Page;
import io.reprise.store.QueueState;
import io.reprise.store.Renewal;
import io.reprise.store.Revival;
import io.reprise.store.Revived;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.store.Spending;
import io.reprise.store.Standing;
import io.reprise.store.StoredBytes;
import io.reprise.store.StoredSchedule;
import io.reprise.store.Unparking;
import io.reprise.store.WorkerReport;
import io.reprise.store.WorkerState;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;
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
    private final Wakeups wakeups;
    private final AtomicBoolean listens = new AtomicBoolean();
    private final Parts parts;
    private final Expiry expiry;
    private final InsertGroup singles = new InsertGroup(this::insertAll);

    JdbcJobStore(Database database, Wakeups wakeups, Parts parts) {
        this.database = database;
        this.wakeups = wakeups;
        this.parts = parts;
        this.expiry = new Expiry(database, parts.outbox());
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
        run("prepare the schema", Migrations::apply);
    }

    @Override
    public void requirePrepared() {
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
        run("make the database fit for use", Restored::repair);
    }

    @Override
    public Instant now() {
        return Micros.instant(database.read("tell the time", Session::now));
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
    public List<Inserted> insert(List<JobSpec> specs) {
        if (specs.isEmpty()) {
            return List.of();
        }
        boolean alone = specs.size() == 1 && !Inserts.hasKey(specs.get(0));
        return alone ? List.of(singles.insert(specs.get(0))) : insertAll(specs);
    }

    private List<Inserted> insertAll(List<JobSpec> specs) {
        boolean one = parts.inserts().isOneStatement(specs);
        boolean tells = one && wakeups.ridesAlong();
        Database.Work<List<Inserted>> work = session -> parts.inserts().insert(session, specs, tells);
        List<Inserted> inserted =
                one ? database.send("store a job", work) : database.write("store " + specs.size() + " jobs", work);
        parts.policies()
                .committed(specs.stream().map(JobSpec::policy).distinct().toList());
        parts.claims().woken();
        if (tells) {
            wakeups.announced();
        } else {
            wakeups.announce();
        }
        return inserted;
    }

    @Override
    public Settled settle(List<Settlement> settlements, Collection<Long> closing) {
        return settle(settlements, Closing.of(closing));
    }

    @Override
    public Settled settle(List<Settlement> settlements) {
        return settle(settlements, Closing.EMPTY);
    }

    private Settled settle(List<Settlement> settlements, Closing closing) {
        Database.Work<Settled> work = session -> parts.outbox().settle(session, settlements, closing);
        String what = "settle " + settlements.size() + " jobs";
        if (parts.outbox().isOneStatement(settlements)) {
            return database.send(what, work);
        }
        boolean followed = Outbox.hasSequels(settlements);
        if (followed) {
            // Policies are stored ahead: the transaction knows only later which follow-up jobs it stores.
            parts.policies().storeAhead(database, Outbox.policies(settlements));
        }
        Settled settled = database.write(what, work);
        parts.claims().settled(settlements);
        if (followed) {
            wakeups.announce();
        }
        return settled;
    }

    @Override
    public List<Claim> claim(ClaimRequest request) {
        return parts.claims().claim(request);
    }

    @Override
    public Renewal renew(String worker, Collection<Long> tokens, Duration lease) {
        return tokens.isEmpty()
                ? new Renewal(Set.of(), Set.of())
                : database.write("renew leases", session -> parts.leases().renew(session, worker, tokens, lease));
    }

    @Override
    public void excuse(String worker, Collection<Long> tokens, boolean excused) {
        if (!tokens.isEmpty()) {
            database.write("excuse leases", session -> {
                Leases.excuse(session, worker, tokens, excused);
                return true;
            });
        }
    }

    @Override
    public List<LostClaim> takeOver(String taker, Duration lease, int maxLeases) {
        return database.write("take over leases", session -> parts.leases().takeOver(session, taker, lease, maxLeases));
    }

    @Override
    public int dropEmptyLeases(int max) {
        return database.write("drop empty leases", session -> session.dialect().dropEmptyLeases(session, max));
    }

    @Override
    public boolean progress(JobId job, long token, Progress progress) {
        return database.send(
                "keep progress of job " + job, session -> parts.leases().progress(session, job, token, progress));
    }

    @Override
    public List<Job> expire(int limit, Function<Job, List<JobSpec>> sequels) {
        return expiry.expire(limit, sequels);
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
        return parts.claims().dueQueues(after, before, looks);
    }

    @Override
    public List<QueueState> queues() {
        return database.look("count jobs", Queues::all);
    }

    @Override
    public int live(String queuePrefix, int most) {
        return database.look("count jobs", session -> Queues.live(session, queuePrefix, most));
    }

    @Override
    public void pause(String queue, Note note) {
        run("pause queue " + queue, session -> Queues.pause(session, queue, note));
    }

    @Override
    public void resume(String queue, Note note) {
        run("resume queue " + queue, session -> Queues.resume(session, queue, note));
        wakeups.announce();
    }

    @Override
    public void limit(String queue, @Nullable Integer maxRunning, Note note) {
        run("limit queue " + queue, session -> Queues.limit(session, queue, maxRunning, note));
        wakeups.announce();
    }

    @Override
    public Cancellation cancel(JobId id, Note note, List<JobSpec> sequels) {
        Cancellation answer =
                database.write("cancel job " + id, session -> parts.outbox().cancel(session, id, note, sequels));
        wakeups.announce();
        return answer;
    }

    @Override
    public Revived revive(JobId id, Revival revival, Note note) {
        try {
            Revived revived = database.write(
                    revival.action() + " job " + id, session -> parts.revivals().revive(session, id, revival, note));
            wakeups.announce();
            return revived;
        } catch (UniqueKeyTaken e) {
            return new Revived(Revived.Result.KEY_TAKEN, null);
        }
    }

    @Override
    public boolean discard(JobId id, Note note) {
        return change("discard job " + id, session -> {
            boolean deleted = !Endings.delete(session, List.of(id.value()), Long.MAX_VALUE)
                    .isEmpty();
            if (deleted) {
                Audit.write(session, "discard", id, null, note, null);
            }
            return deleted;
        });
    }

    @Override
    public Map<JobId, Revived> reviveAll(Map<JobId, Revival> revivals, Note note) {
        Map<JobId, Revived> answers = new HashMap<>(database.write(
                "revive " + revivals.size() + " jobs",
                session -> parts.revivals().reviveAll(session, revivals, note)));
        // Jobs that cannot be revived by one statement for many, such as jobs with unique keys.
        revivals.forEach((id, revival) -> answers.computeIfAbsent(id, each -> revive(each, revival, note)));
        wakeups.announce();
        return answers;
    }

    @Override
    public Map<JobId, Cancellation> cancelAll(Collection<JobId> ids, Note note, Function<Job, List<JobSpec>> sequels) {
        Map<JobId, Cancellation> answers = new HashMap<>();
        database.write(
                        "cancel " + ids.size() + " jobs",
                        session -> parts.outbox().cancelAll(session, ids, note, sequels))
                .forEach(id -> answers.put(id, Cancellation.DONE));
        // Jobs that run, have ended, or were claimed after the statement above.
        for (JobId id : ids) {
            if (!answers.containsKey(id)) {
                answers.put(id, cancel(id, note, find(id).map(sequels).orElse(List.of())));
            }
        }
        wakeups.announce();
        return answers;
    }

    @Override
    public Set<JobId> discardAll(Collection<JobId> ids, Note note) {
        return database.write("discard " + ids.size() + " jobs", session -> {
            session.dialect().preferIndexes(session);
            List<Long> wanted = ids.stream().map(JobId::value).toList();
            Set<JobId> gone = Endings.delete(session, wanted, Long.MAX_VALUE).stream()
                    .map(job -> new JobId(job.id()))
                    .collect(Collectors.toSet());
            Audit.writeAll(session, "discard", gone, note, id -> null);
            if (gone.size() < ids.size()) {
                session.confirm();
            }
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
        return database.write("prune jobs", session -> Upkeep.prune(session, states, age, limit));
    }

    @Override
    public int pruneAudit(Duration age, int limit) {
        return database.write("prune the audit log", session -> Audit.prune(session, age, limit));
    }

    @Override
    public Optional<JobId> findByIdempotencyKey(String key) {
        return database.read("look for a key", session -> Inserts.remembered(session, key));
    }

    @Override
    public Page<AuditEntry> audit(@Nullable JobId job, int limit, @Nullable String cursor) {
        long before = cursor == null ? Long.MAX_VALUE : Long.parseLong(cursor);
        return database.look("read the audit log", session -> Audit.read(session, job, limit, before));
    }

    @Override
    public void putSchedule(String name, String rule, JobSpec job, Instant nextAt) {
        run("store schedule " + name, session -> parts.schedules().put(session, name, rule, job, nextAt));
    }

    @Override
    public boolean removeSchedule(String name) {
        return change("remove schedule " + name, session -> Schedules.remove(session, name));
    }

    @Override
    public boolean pauseSchedule(String name, boolean paused, Note note) {
        return change("pause schedule " + name, session -> Schedules.pause(session, name, paused, note));
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
        return database.read("look for the next firing", Schedules::nextFiring);
    }

    @Override
    public List<Optional<List<Inserted>>> fireAll(List<Firing> firings) {
        List<Optional<List<Inserted>>> fired = database.write(
                "fire " + firings.size() + " schedules",
                session -> parts.schedules().fire(session, firings));
        wakeups.announce();
        return fired;
    }

    @Override
    public Set<JobId> live(Collection<JobId> jobs) {
        return jobs.isEmpty() ? Set.of() : database.read("look for live jobs", session -> Jobs.live(session, jobs));
    }

    @Override
    public List<ControlRow> controls() {
        return database.read("read control state", ControlStates::all);
    }

    @Override
    public List<ControlRow> controls(Collection<String> names) {
        return database.read("read control state", session -> ControlStates.named(session, names));
    }

    @Override
    public List<ControlRow> controlsAfter(long version) {
        return database.read("read control state", session -> ControlStates.after(session, version));
    }

    @Override
    public List<OptionalLong> putControls(List<ControlRow> rows) {
        return rows.isEmpty()
                ? List.of()
                : database.write("store control state", session -> ControlStates.put(session, rows));
    }

    @Override
    public OptionalLong putControl(ControlRow row, String action, Note note) {
        return database.write(action + " " + row.name(), session -> ControlStates.put(session, row, action, note));
    }

    @Override
    public Set<String> removeControls(List<ControlRow> rows) {
        return database.write("remove control state", session -> ControlStates.remove(session, rows));
    }

    @Override
    public Map<String, Long> parked() {
        return database.look("count parked jobs", ControlStates::parked);
    }

    @Override
    public Set<String> parkedBy() {
        return database.read("look for parked jobs", ControlStates::parkedBy);
    }

    @Override
    public List<Integer> unpark(List<Unparking> requests) {
        List<Integer> unparked = database.write("unpark jobs", session -> ControlStates.unpark(session, requests));
        if (unparked.stream().anyMatch(jobs -> jobs > 0)) {
            parts.claims().unparked();
            wakeups.announce();
        }
        return unparked;
    }

    @Override
    public void note(String action, String subject, Note note, @Nullable String detail) {
        database.write(action + " " + subject, session -> {
            Audit.write(session, action, null, subject, note, detail);
            return true;
        });
    }

    @Override
    public Page<DeadGroup> deadGroups(JobQuery query, int limit) {
        return database.look("group dead letters", session -> parts.queries().deadGroups(session, query, limit));
    }

    @Override
    public Optional<Document> document(String kind, String id) {
        return database.read("read a document", session -> Documents.find(session, kind, id));
    }

    @Override
    public Page<Document> documents(String kind, int limit, @Nullable String after) {
        return database.read("read documents", session -> Documents.page(session, kind, limit, after));
    }

    @Override
    public OptionalLong putDocument(Document document) {
        return database.write("store " + document.subject(), session -> Documents.put(session, document, null, null));
    }

    @Override
    public OptionalLong putDocument(Document document, String action, Note note) {
        return database.write(
                action + " " + document.subject(), session -> Documents.put(session, document, action, note));
    }

    @Override
    public boolean removeDocument(Document document) {
        return database.write(
                "remove " + document.subject(), session -> Documents.remove(session, document, null, null));
    }

    @Override
    public boolean removeDocument(Document document, String action, Note note) {
        return database.write(
                action + " " + document.subject(), session -> Documents.remove(session, document, action, note));
    }

    @Override
    public boolean lead(String role, String worker, Duration term) {
        return database.send("lead " + role, session -> Roles.lead(session, role, worker, term));
    }

    @Override
    public void resign(String role, String worker) {
        run("resign " + role, session -> Roles.resign(session, role, worker));
    }

    @Override
    public void maintain() {
        long newest =
                database.read("look at counters", session -> session.dialect().newestCount(session));
        int folded = database.dialect().countsPerFold();
        while (folded == database.dialect().countsPerFold()) {
            folded = database.write("fold counters", session -> Counters.fold(session, newest));
        }
        run("forget old counts", Insights::forget);
        run("forget old workers", WorkerRows::forget);
    }

    @Override
    public void tally(Findings findings) {
        run("write down counts", session -> Insights.tally(session, findings));
    }

    @Override
    public List<Evidence> evidence() {
        return database.read("read evidence", Insights::evidence);
    }

    @Override
    public List<Spending> spending(Duration age) {
        return database.look("read spending", session -> Insights.spending(session, age));
    }

    @Override
    public List<Activity> activity(Duration ago, int minutes) {
        return database.read("read activity", session -> Insights.activity(session, ago, minutes));
    }

    @Override
    public void checkIn(WorkerReport report, Duration ttl) {
        database.send("check in", session -> WorkerRows.checkIn(session, report, ttl));
    }

    @Override
    public void checkOut(String worker) {
        database.send("check out", session -> WorkerRows.checkOut(session, worker));
    }

    @Override
    public List<WorkerState> workers() {
        return database.read("read workers", WorkerRows::live);
    }

    @Override
    public Optional<Standing> standing(JobId id, int most) {
        return database.look(
                "see how job " + id + " stands", session -> parts.standings().find(session, id, most));
    }

    @Override
    public List<Behind> behind(Map<JobState, Duration> keep) {
        return database.look("look at upkeep", session -> Lateness.of(session, keep));
    }

    @Override
    public StoredBytes bytes(@Nullable String cursor, int rows) {
        return database.read("measure payloads", session -> Sizes.read(session, cursor, rows));
    }

    @Override
    public boolean raise(Alert alert) {
        return database.send("raise an alert", session -> Alerts.raise(session, alert));
    }

    @Override
    public boolean clear(Alert alert) {
        return database.send("clear an alert", session -> Alerts.clear(session, alert));
    }

    @Override
    public List<Alert> alerts() {
        return database.read("read alerts", Alerts::all);
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
    public void close() {
        wakeups.close();
        database.close();
    }

    /**
     * Runs a change that may find nothing to change. Then the session confirms the answer, because an old primary that
     * lost a failover could answer with old data.
     */
    private boolean change(String what, Database.Work<Boolean> work) {
        return database.write(what, session -> {
            boolean changed = work.on(session);
            if (!changed) {
                session.confirm();
            }
            return changed;
        });
    }

    private interface Step {
        void on(Session session) throws java.sql.SQLException;
    }

    private void run(String what, Step step) {
        database.write(what, session -> {
            step.on(session);
            return true;
        });
    }
}
