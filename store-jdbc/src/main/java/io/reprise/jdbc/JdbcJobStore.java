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
import io.reprise.store.Cancellation;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.ControlRow;
import io.reprise.store.DeadGroup;
import io.reprise.store.Document;
import io.reprise.store.Evidence;
import io.reprise.store.Findings;
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
import io.reprise.store.StoredSchedule;
import io.reprise.store.WorkerReport;
import io.reprise.store.WorkerState;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Jobs in SQLite, PostgreSQL, MySQL or MariaDB. Every wait for a connection and every statement is bounded. Thread-safe; several stores, in
 * one process or many, may use the same database.
 */
public final class JdbcJobStore implements JobStore {

    private final Database database;
    private final Wakeups wakeups;
    private final AtomicBoolean listens = new AtomicBoolean();
    private final Parts parts;
    private final InsertGroup singles = new InsertGroup(this::insertAll);

    JdbcJobStore(Database database, Wakeups wakeups, Parts parts) {
        this.database = database;
        this.wakeups = wakeups;
        this.parts = parts;
    }

    /** In one file, which is created if need be; its directory must exist. */
    public static JdbcJobStore sqlite(Path file) {
        return builder().sqlite(file);
    }

    public static JdbcJobStore postgresql(String jdbcUrl, @Nullable String user, @Nullable String password) {
        return builder().postgresql(jdbcUrl, user, password);
    }

    /** On plain connections of a source: the store pools them itself and keeps one to listen for work. */
    public static JdbcJobStore postgresql(DataSource source) {
        return builder().postgresql(source);
    }

    /** By the driver that knows the URL: that of MariaDB for {@code jdbc:mariadb:}, that of MySQL for {@code jdbc:mysql:}. */
    public static JdbcJobStore mysql(String jdbcUrl, @Nullable String user, @Nullable String password) {
        return builder().mysql(jdbcUrl, user, password);
    }

    /** On plain connections of a source to MySQL or MariaDB: the store pools them itself. */
    public static JdbcJobStore mysql(DataSource source) {
        return builder().mysql(source);
    }

    /**
     * Opens what a URL names: {@code sqlite:jobs.db}, {@code postgresql://user:password@host:5432/database},
     * {@code mariadb://…}, {@code mysql://…}, or the JDBC URL of one of them. MariaDB's driver stands in for MySQL's where
     * that is not on the class path.
     *
     * @throws IllegalArgumentException if it is of another kind
     */
    public static JdbcJobStore open(String url) {
        return builder().open(url);
    }

    public static JdbcStoreBuilder builder() {
        return new JdbcStoreBuilder();
    }

    @Override
    public void prepare() {
        run("prepare the schema", Migrations::apply);
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
        if (tells) {
            wakeups.announced();
        } else {
            wakeups.announce();
        }
        return inserted;
    }

    @Override
    public Settled settle(List<Settlement> settlements, Collection<Long> closing) {
        Database.Work<Settled> work = session -> parts.outbox().settle(session, settlements, closing);
        String what = "settle " + settlements.size() + " jobs";
        if (parts.outbox().isOneStatement(settlements)) {
            return database.send(what, work);
        }
        boolean followed = Outbox.hasSequels(settlements);
        if (followed) {
            // Ahead: whether the transaction stores them depends on what it accepts.
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
    public List<LostClaim> takeOver(String taker, Duration lease, int maxLeases) {
        return database.write("take over leases", session -> parts.leases().takeOver(session, taker, lease, maxLeases));
    }

    @Override
    public boolean progress(JobId job, long token, Progress progress) {
        return database.send(
                "keep progress of job " + job, session -> parts.leases().progress(session, job, token, progress));
    }

    @Override
    public List<Job> expire(int limit, Function<Job, List<JobSpec>> sequels) {
        return database.write("expire jobs", session -> parts.outbox().expire(session, limit, sequels));
    }

    @Override
    public Optional<Job> find(JobId id) {
        return database.read("find job " + id, session -> parts.jobs().find(session, id));
    }

    @Override
    public Page<Job> find(JobQuery query) {
        return database.read("find jobs", session -> parts.queries().find(session, query));
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
    public List<QueueState> queues() {
        return database.read("count jobs", Queues::all);
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
        } catch (Revivals.KeyTaken e) {
            return new Revived(Revived.Result.KEY_TAKEN, null);
        }
    }

    @Override
    public boolean discard(JobId id, Note note) {
        return change("discard job " + id, session -> {
            boolean deleted = Endings.delete(session, List.of(id.value()), Long.MAX_VALUE) == 1;
            if (deleted) {
                Audit.write(session, "discard", id, null, note, null);
            }
            return deleted;
        });
    }

    @Override
    public int prune(Set<JobState> states, Duration age, int limit) {
        return database.write("prune jobs", session -> Upkeep.prune(session, states, age, limit));
    }

    @Override
    public Optional<JobId> findByIdempotencyKey(String key) {
        return database.read("look for a key", session -> Inserts.remembered(session, key));
    }

    @Override
    public Page<AuditEntry> audit(@Nullable JobId job, int limit, @Nullable String cursor) {
        long before = cursor == null ? Long.MAX_VALUE : Long.parseLong(cursor);
        return database.read("read the audit log", session -> Audit.read(session, job, limit, before));
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
        return database.read("read schedules", parts.schedules()::all);
    }

    @Override
    public Optional<List<Inserted>> fire(String name, Instant dueAt, Instant nextAt, List<JobSpec> jobs) {
        Optional<List<Inserted>> fired = database.write(
                "fire schedule " + name, session -> parts.schedules().fire(session, name, dueAt, nextAt, jobs));
        wakeups.announce();
        return fired;
    }

    @Override
    public List<ControlRow> controls() {
        return database.read("read control state", ControlStates::all);
    }

    @Override
    public OptionalLong putControl(ControlRow row) {
        return database.write(
                "store control state " + row.name(), session -> ControlStates.put(session, row, null, null));
    }

    @Override
    public OptionalLong putControl(ControlRow row, String action, Note note) {
        return database.write(action + " " + row.name(), session -> ControlStates.put(session, row, action, note));
    }

    @Override
    public boolean removeControl(String name, long version) {
        return database.write("remove control state " + name, session -> ControlStates.remove(session, name, version));
    }

    @Override
    public Map<String, Long> parked() {
        return database.read("count parked jobs", ControlStates::parked);
    }

    @Override
    public Set<String> parkedBy() {
        return database.read("look for parked jobs", ControlStates::parkedBy);
    }

    @Override
    public int unpark(String name, int max) {
        int unparked = database.write("unpark jobs of " + name, session -> ControlStates.unpark(session, name, max));
        if (unparked > 0) {
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
    public List<DeadGroup> deadGroups(JobQuery query, int limit) {
        return database.read("group dead letters", session -> parts.queries().deadGroups(session, query, limit));
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
        run("fold counters", Counters::fold);
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
        return database.read("read spending", session -> Insights.spending(session, age));
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
        return database.read(
                "see how job " + id + " stands", session -> parts.standings().find(session, id, most));
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

    /** How many transactions fell victim to a deadlock, or to a lock held long, since the store was opened, and were run again. */
    public long repeats() {
        return database.repeats();
    }

    @Override
    public void onWake(Runnable listener) {
        if (listens.compareAndSet(false, true)) {
            // Before the others, who will claim.
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

    /** That there was nothing to change is told as a truth too. */
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
