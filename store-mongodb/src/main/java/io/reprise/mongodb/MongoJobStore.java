// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.client.MongoClient;
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
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoAudit;
import io.reprise.mongodb.docs.MongoControlEvents;
import io.reprise.mongodb.docs.MongoLogs;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoSettings;
import io.reprise.mongodb.docs.MongoSizes;
import io.reprise.mongodb.docs.MongoTime;
import io.reprise.mongodb.docs.MongoUpkeepLag;
import io.reprise.step.Checkpoint;
import io.reprise.step.StepEdit;
import io.reprise.step.StepList;
import io.reprise.step.Telling;
import io.reprise.store.ActivityQuery;
import io.reprise.store.Claim;
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
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A store in MongoDB 5.0 or newer. On a replica set or a sharded cluster, each step that the contract calls atomic is
 * atomic. A single server has no transactions. There a step that spans several documents is done in an order that loses
 * no job (see docs/mongodb.md).
 *
 * <p>The store writes with majority write concern and reads from the primary, whatever the settings of the client are.
 * Call {@link #prepare} before any other method; a Reprise does so when it starts. Thread-safe.
 *
 * @since 0.1.0
 */
public final class MongoJobStore implements JobStore {

    /** The database that is used if the URL names none. */
    public static final String DEFAULT_DATABASE = "reprise";

    /** How many runs of a job keep their log lines. */
    private static final int KEPT_LOGS = 25;

    private final Mongo mongo;
    private final boolean ownsClient;
    private final JobDocs jobDocs = new JobDocs();
    private final MongoWakeups wakeups = new MongoWakeups();
    private final DeadLetters deadLetters;
    private final MongoDeadGroups deadGroups;
    private final MongoInserts inserts;
    private final MongoClaims claims;
    private final MongoLeases leases;
    private final MongoQueries queries;
    private final MongoQueues queues;
    private final MongoOperations byHand;
    private final MongoRequeues requeues;
    private final MongoChanges changes;
    private final MongoSchedules schedules;
    private final MongoControls controls;
    private final MongoWorkers presence;
    private final MongoInsights insights;
    private final MongoControlEvents controlEvents;
    private final MongoSettlements settlements;
    private final MongoExpiry expiry;
    private final MongoTurns turns;
    private final MongoSteps steps;
    private final MongoBatches batches;
    private final MongoDocuments documents;

    MongoJobStore(MongoClient client, String database, MongoSettings settings, boolean ownsClient) {
        this.mongo = new Mongo(client, database, settings);
        this.ownsClient = ownsClient;
        this.deadLetters = new DeadLetters(mongo);
        this.deadGroups = new MongoDeadGroups(mongo, jobDocs);
        this.inserts = new MongoInserts(mongo);
        MongoFollowUps followUps = new MongoFollowUps(inserts, jobDocs);
        this.claims = new MongoClaims(mongo, jobDocs);
        this.leases = new MongoLeases(mongo, jobDocs);
        this.queries = new MongoQueries(mongo, jobDocs, settings.keepAttempts());
        this.queues = new MongoQueues(mongo);
        this.byHand = new MongoOperations(mongo, jobDocs, followUps);
        this.requeues = new MongoRequeues(mongo, deadLetters);
        this.changes = new MongoChanges(mongo, jobDocs);
        this.schedules = new MongoSchedules(mongo, inserts, jobDocs.specs());
        this.controls = new MongoControls(mongo);
        this.presence = new MongoWorkers(mongo);
        this.insights = new MongoInsights(mongo);
        this.controlEvents = new MongoControlEvents(mongo);
        this.settlements = new MongoSettlements(mongo, followUps, deadLetters, settings.keepAttempts());
        this.expiry = new MongoExpiry(mongo, jobDocs, followUps, deadLetters);
        this.turns = new MongoTurns(mongo);
        this.documents = new MongoDocuments(mongo);
        this.steps = new MongoSteps(mongo);
        this.batches = new MongoBatches(mongo, inserts);
    }

    /**
     * Opens a store by URL with default settings; see {@link MongoStoreBuilder#open(String)}.
     *
     * @param url {@code mongodb://user:password@host1,host2/database?options} or {@code mongodb+srv://…}
     * @throws IllegalArgumentException if it is not a URL of MongoDB
     */
    public static MongoJobStore open(String url) {
        return builder().open(url);
    }

    /**
     * Returns a store on a client of the application, with default settings; see
     * {@link MongoStoreBuilder#of(MongoClient, String)}.
     */
    public static MongoJobStore of(MongoClient client, String database) {
        return builder().of(client, database);
    }

    /** Returns a builder with default settings. */
    public static MongoStoreBuilder builder() {
        return new MongoStoreBuilder();
    }

    @Override
    public void prepare() {
        mongo.run("prepare the database", scope -> {
            MongoSchema.prepare(mongo);
            return true;
        });
        deadLetters.tidy();
    }

    @Override
    public void requirePrepared() {
        mongo.run("look at the database", scope -> {
            MongoSchema.require(mongo);
            return true;
        });
    }

    /**
     * Makes a database usable that was restored from a backup. Call it once after the restore, before any worker or
     * client uses the database. A second call has no further effect on jobs, and moves the numbers ahead once more.
     *
     * <p>Ids, tokens and versions continue far above all values that may have been given out since the backup. Jobs
     * that ran at the time of the backup wait as before they were claimed. All workers and roles are deleted.
     *
     * @throws io.reprise.store.StoreException if the database fails or refuses; then call it again
     */
    public void afterRestore() {
        MongoRestore.repair(mongo);
    }

    @Override
    public Instant now() {
        return MongoTime.instant(mongo.run("tell the time", MongoScope::now));
    }

    @Override
    public JobWriter within(Transaction transaction) {
        if (transaction instanceof MongoTransaction joined) {
            return new MongoJoinedWriter(mongo, inserts, settlements, joined);
        }
        throw new IllegalArgumentException("MongoJobStore takes part in a MongoTransaction only, not in "
                + transaction.getClass().getName());
    }

    @Override
    public List<Enqueued> insert(List<JobSpec> specs) {
        return wakeups.after(inserts.insert(specs));
    }

    @Override
    public Settled settle(List<Settlement> outcomes, Collection<Long> closing) {
        return wakeups.after(settlements.settle(outcomes, closing));
    }

    @Override
    public List<Claim> claim(ClaimRequest request) {
        return claims.claim(request);
    }

    @Override
    public Renewal renew(String worker, Collection<Long> tokens, Duration lease) {
        return leases.renew(worker, tokens, lease);
    }

    @Override
    public void excuse(String worker, Collection<Long> tokens, boolean excused) {
        leases.excuse(worker, tokens, excused);
    }

    @Override
    public Settled settle(List<Settlement> settlements) {
        return settle(settlements, List.of());
    }

    /** Returns 0: a lease is a part of its jobs, so a lease without jobs does not exist. */
    @Override
    public int dropEmptyLeases(int max) {
        return 0;
    }

    @Override
    public List<LostClaim> takeOver(String taker, Duration lease, int maxLeases) {
        return leases.takeOver(taker, lease, maxLeases);
    }

    @Override
    public boolean progress(JobId job, long token, Progress progress) {
        return leases.progress(job, token, progress);
    }

    @Override
    public List<Checkpoint.Answer> checkpoint(List<Checkpoint> checkpoints) {
        return steps.checkpoint(checkpoints);
    }

    @Override
    public void writeLog(List<LogPart> parts) {
        if (!parts.isEmpty()) {
            mongo.run("write log lines", scope -> {
                MongoLogs.write(scope, parts, KEPT_LOGS);
                return parts.size();
            });
        }
    }

    @Override
    public List<LogLine> log(JobId job, long from) {
        return mongo.run("read the log of job " + job, scope -> MongoLogs.find(scope, job, from));
    }

    @Override
    public StepList steps(JobId job) {
        return steps.read(job);
    }

    @Override
    public Telling tell(JobId job, String name, String type, String value) {
        return wakeups.after(steps.tell(job, name, type, value));
    }

    @Override
    public StepEdit.Result editSteps(JobId job, StepEdit edit, AuditNote note) {
        return wakeups.after(steps.edit(job, edit, note));
    }

    @Override
    public boolean createBatch(String name, @Nullable JobSpec onSuccess, @Nullable JobSpec onEnd) {
        return batches.create(name, onSuccess, onEnd);
    }

    @Override
    public Optional<BatchState> batch(String name) {
        return batches.find(name);
    }

    @Override
    public Page<BatchState> batches(String prefix, int limit, @Nullable String cursor) {
        return batches.page(prefix, limit, cursor);
    }

    @Override
    public Optional<BatchState> closeBatch(String name) {
        return wakeups.after(batches.close(name));
    }

    @Override
    public Optional<BatchState> finishBatch(String name, AuditNote note) {
        return wakeups.after(batches.finish(name, note));
    }

    @Override
    public List<BatchMember> members(String batch, int after, int limit) {
        return batches.members(batch, after, limit);
    }

    @Override
    public List<Job> expire(int limit, Function<Job, List<JobSpec>> followUps) {
        return wakeups.after(expiry.expire(limit, followUps));
    }

    @Override
    public int letFollow(int limit) {
        return turns.letFollow(limit);
    }

    @Override
    public int giveTurns(Duration waited, int limit) {
        return turns.give(waited, limit);
    }

    @Override
    public int lineUp(String queue, boolean byCreation, int limit) {
        return turns.lineUp(queue, byCreation, limit);
    }

    @Override
    public Optional<Job> find(JobId id) {
        return queries.find(id);
    }

    @Override
    public Page<Job> find(JobQuery query) {
        return queries.find(query);
    }

    @Override
    public List<Attempt> attempts(JobId id) {
        return queries.attempts(id);
    }

    @Override
    public Map<JobId, List<Instant>> failures(Collection<JobId> jobs) {
        return queries.failures(jobs);
    }

    @Override
    public Set<String> liveQueues() {
        return queues.live();
    }

    @Override
    public DueQueues dueQueues(String after, String before, int looks) {
        return queues.due(after, before, looks);
    }

    @Override
    public List<QueueState> queues() {
        return queues.all();
    }

    @Override
    public int live(String queuePrefix, int most) {
        return queues.live(queuePrefix, most);
    }

    @Override
    public int depth(String queue, int most) {
        return queues.depth(queue, most);
    }

    @Override
    public void pause(String queue, AuditNote note) {
        queues.pause(queue, note);
    }

    @Override
    public void resume(String queue, AuditNote note) {
        queues.resume(queue, note);
        wakeups.after(queue);
    }

    @Override
    public void limit(String queue, @Nullable Integer maxRunning, AuditNote note) {
        queues.limit(queue, maxRunning, note);
        wakeups.after(queue);
    }

    @Override
    public Cancellation cancel(JobId id, AuditNote note, List<JobSpec> followUps) {
        return wakeups.after(byHand.cancel(id, note, followUps));
    }

    @Override
    public Map<JobId, Cancellation> cancelAll(
            Collection<JobId> ids, AuditNote note, Function<Job, List<JobSpec>> followUps) {
        return wakeups.after(byHand.cancelAll(ids, note, followUps));
    }

    @Override
    public RequeueResult requeue(JobId id, Requeue requeue, AuditNote note) {
        return wakeups.after(requeues.requeue(id, requeue, note));
    }

    @Override
    public Map<JobId, RequeueResult> requeueAll(Map<JobId, Requeue> all, AuditNote note) {
        return wakeups.after(requeues.requeueAll(all, note));
    }

    @Override
    public Map<JobId, JobChange.Answer> changeAll(Map<JobId, JobChange> all, AuditNote note) {
        return wakeups.after(changes.changeAll(all, note));
    }

    @Override
    public boolean discard(JobId id, AuditNote note) {
        return byHand.discard(id, note);
    }

    @Override
    public Set<JobId> discardAll(Collection<JobId> ids, AuditNote note) {
        return byHand.discardAll(ids, note);
    }

    @Override
    public List<Job> findAll(Collection<JobId> ids) {
        List<Long> numbers = ids.stream().map(JobId::value).toList();
        return mongo.run(
                "read jobs", scope -> jobDocs.read(DeadLetters.findAll(scope, numbers, JobDocs.WITHOUT_HISTORY)));
    }

    @Override
    public int prune(Set<JobState> states, Duration age, int limit) {
        return byHand.prune(states, age, limit);
    }

    @Override
    public int pruneAudit(Duration age, int limit) {
        return mongo.look("prune the audit log", scope -> MongoAudit.prune(scope, age, limit));
    }

    @Override
    public Optional<JobId> findByIdempotencyKey(String key) {
        return mongo.run("look for a key", scope -> MongoInserts.remembered(scope, key));
    }

    @Override
    public Page<AuditEntry> audit(@Nullable JobId job, int limit, @Nullable String cursor) {
        return mongo.list("read the audit log", scope -> MongoAudit.read(scope, job, limit, cursor));
    }

    @Override
    public void note(String action, String subject, AuditNote note, @Nullable String detail) {
        mongo.run("note what was done", scope -> {
            MongoAudit.subject(scope, scope.now(), action, subject, note, detail);
            return true;
        });
    }

    @Override
    public Page<DeadGroup> deadGroups(JobQuery query, int limit) {
        return deadGroups.find(query, limit);
    }

    @Override
    public Optional<Document> document(String kind, String id) {
        return documents.find(kind, id);
    }

    @Override
    public Page<Document> documents(String kind, int limit, @Nullable String after) {
        return documents.page(kind, limit, after);
    }

    @Override
    public OptionalLong putDocument(Document document) {
        return documents.put(document);
    }

    @Override
    public OptionalLong putDocument(Document document, String action, AuditNote note) {
        return documents.put(document, action, note);
    }

    @Override
    public boolean removeDocument(Document document) {
        return documents.remove(document);
    }

    @Override
    public boolean removeDocument(Document document, String action, AuditNote note) {
        return documents.remove(document, action, note);
    }

    @Override
    public void putSchedule(String name, String rule, JobSpec job, Instant nextAt, @Nullable AuditNote note) {
        schedules.put(name, rule, job, nextAt, note);
    }

    @Override
    public boolean removeSchedule(String name, @Nullable AuditNote note) {
        return schedules.remove(name, note);
    }

    @Override
    public boolean pauseSchedule(String name, boolean paused, AuditNote note) {
        return schedules.pause(name, paused, note);
    }

    @Override
    public Enqueued trigger(String name, JobSpec job, AuditNote note) {
        return wakeups.after(schedules.trigger(name, job, note));
    }

    @Override
    public List<StoredSchedule> schedules() {
        return schedules.all();
    }

    @Override
    public Optional<StoredSchedule> schedule(String name) {
        return schedules.find(name);
    }

    @Override
    public List<StoredSchedule> dueSchedules(int limit, @Nullable StoredSchedule after) {
        return schedules.due(limit, after);
    }

    @Override
    public Optional<Instant> nextFiring() {
        return schedules.nextFiring();
    }

    @Override
    public List<Optional<List<Enqueued>>> fireAll(List<Firing> firings) {
        return wakeups.after(schedules.fireAll(firings));
    }

    @Override
    public Set<JobId> live(Collection<JobId> jobs) {
        List<Long> ids = jobs.stream().map(JobId::value).toList();
        return mongo.run(
                "look for live jobs",
                scope -> MongoQueries.ids(scope.jobs()
                                .find(JobDocs.byIds(ids)
                                        .append(
                                                FieldNames.STATUS,
                                                FieldNames.in(List.of(FieldNames.PENDING, FieldNames.PROCESSING)))))
                        .stream()
                        .map(JobId::new)
                        .collect(Collectors.toSet()));
    }

    @Override
    public List<ControlRow> controls() {
        return controls.all();
    }

    @Override
    public List<ControlRow> controls(Collection<String> names) {
        return controls.named(names);
    }

    @Override
    public List<ControlRow> controlsAfter(long version) {
        return controls.after(version);
    }

    @Override
    public List<OptionalLong> putControls(List<ControlRow> rows) {
        return rows.isEmpty() ? List.of() : controls.put(rows);
    }

    @Override
    public OptionalLong putControl(ControlRow row, String action, AuditNote note) {
        return controls.put(row, action, note);
    }

    @Override
    public Set<String> removeControls(List<ControlRow> rows) {
        return controls.remove(rows);
    }

    @Override
    public Map<String, Long> parked() {
        return controls.parked();
    }

    @Override
    public Set<String> parkedBy() {
        return controls.parkedBy();
    }

    @Override
    public List<Integer> unpark(List<Unparking> requests) {
        return wakeups.after(controls.unpark(requests));
    }

    @Override
    public boolean lead(String role, String worker, Duration term) {
        return presence.lead(role, worker, term);
    }

    @Override
    public void resign(String role, String worker) {
        presence.resign(role, worker);
    }

    @Override
    public void maintain() {
        mongo.run("do upkeep", scope -> {
            long now = scope.now();
            insights.maintain(scope, now);
            MongoControlEvents.maintain(scope, now);
            presence.forgetTheGone(scope, now);
            MongoFlow.forget(scope, now);
            return true;
        });
        batches.forgetOld();
        deadLetters.tidy();
    }

    @Override
    public void addCounts(WorkerCounts workerCounts) {
        insights.addCounts(workerCounts);
    }

    @Override
    public List<Evidence> evidence() {
        return insights.evidence();
    }

    @Override
    public List<CostEntry> spending(Duration age) {
        return insights.spending(age);
    }

    @Override
    public List<Activity> activity(Duration ago, int minutes) {
        return insights.activity(ago, minutes);
    }

    @Override
    public void addControlEvents(List<ControlEvent> events) {
        controlEvents.add(events);
    }

    @Override
    public List<ControlEvent> controlEvents(String subject, int limit) {
        return controlEvents.last(subject, limit);
    }

    @Override
    public List<ActivityPeriod> activity(ActivityQuery query) {
        return insights.activity(query);
    }

    @Override
    public void checkIn(WorkerReport report, Duration ttl) {
        presence.checkIn(report, ttl);
    }

    @Override
    public void checkOut(String worker) {
        presence.checkOut(worker);
    }

    @Override
    public List<WorkerState> workers() {
        return presence.workers();
    }

    @Override
    public Optional<QueuePosition> queuePosition(JobId id, int most) {
        return queries.queuePosition(id, most);
    }

    @Override
    public FlowGate flow(String queue, GroupRules rules, @Nullable String group) {
        return claims.flow(queue, rules, group);
    }

    @Override
    public List<Behind> behind(Map<JobState, Duration> keep) {
        return mongo.run("look at upkeep", scope -> MongoUpkeepLag.of(scope, keep));
    }

    @Override
    public Map<String, Long> groups(String queue, int rows) {
        return queues.groups(queue, rows);
    }

    @Override
    public Map<WaitReason, Long> waiting(int rows) {
        return queues.waiting(rows);
    }

    @Override
    public List<WaitingError> waitingErrors(@Nullable String queuePrefix, int rows) {
        return queues.waitingErrors(queuePrefix, rows);
    }

    @Override
    public StoredBytes bytes(@Nullable String cursor, int rows) {
        return mongo.look("measure payloads", scope -> MongoSizes.read(scope, cursor, rows));
    }

    @Override
    public boolean raise(Alert alert) {
        return presence.raise(alert);
    }

    @Override
    public boolean clear(Alert alert) {
        return presence.clear(alert);
    }

    @Override
    public List<Alert> alerts() {
        return presence.alerts();
    }

    @Override
    public void onWake(Runnable listener) {
        wakeups.add(listener);
    }

    @Override
    public void offWake(Runnable listener) {
        wakeups.remove(listener);
    }

    @Override
    public void wake() {
        wakeups.after(true);
    }

    /** Closes the client if the store opened it by URL. A client that the application passed stays open. */
    @Override
    public void close() {
        if (ownsClient) {
            mongo.client().close();
        }
    }
}
