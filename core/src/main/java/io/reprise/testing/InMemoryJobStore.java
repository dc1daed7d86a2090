// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

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
import io.reprise.job.JobStatus;
import io.reprise.job.Page;
import io.reprise.job.Progress;
import io.reprise.job.QueueState;
import io.reprise.job.RefusedException;
import io.reprise.job.StoredSchedule;
import io.reprise.job.Transaction;
import io.reprise.job.WaitReason;
import io.reprise.job.WorkerReport;
import io.reprise.job.WorkerState;
import io.reprise.retry.FailReason;
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
import io.reprise.store.Lane;
import io.reprise.store.LogPart;
import io.reprise.store.LostClaim;
import io.reprise.store.Micros;
import io.reprise.store.Renewal;
import io.reprise.store.Requeue;
import io.reprise.store.RequeueResult;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.store.Unparking;
import io.reprise.store.WorkerCounts;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store in memory, for tests and for trying Reprise out. All jobs are gone when the process ends, and processes do
 * not share them. It refuses a caller's transaction. Otherwise it keeps the whole contract of {@link JobStore}. It
 * keeps the latest 25 attempts of a job and the latest 10,000 audit entries.
 *
 * <p>Thread-safe. Several workers of one process may share it.
 *
 * @since 0.1.0
 */
public final class InMemoryJobStore implements JobStore {

    private final InstantSource clock;
    private final MemoryTables tables = new MemoryTables();
    private final MemoryInserts inserting = new MemoryInserts(tables);
    private final MemoryClaims claiming = new MemoryClaims(tables);
    private final MemoryAudit audit = new MemoryAudit();
    private final MemorySteps steps = new MemorySteps(tables, audit);
    private final MemorySettlements settling = new MemorySettlements(tables, inserting, steps);
    private final MemorySchedules schedules = new MemorySchedules();
    private final MemoryOperations byHand = new MemoryOperations(tables, audit);
    private final MemoryRoles roles = new MemoryRoles();
    private final MemoryControls controls = new MemoryControls(tables);
    private final MemoryInsights insights = new MemoryInsights();
    private final MemoryDocuments documents = new MemoryDocuments();
    private static final Logger log = LoggerFactory.getLogger(InMemoryJobStore.class);

    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private volatile boolean pollOnly;

    /** Creates an empty store on the clock of the system. */
    public InMemoryJobStore() {
        this(InstantSource.system());
    }

    /**
     * Creates an empty store on a clock, for instance a {@link ManualClock}.
     *
     * @param clock decides all due times and leases; it must not go back
     */
    public InMemoryJobStore(InstantSource clock) {
        this.clock = clock;
        tables.batches.use(clock);
    }

    /**
     * Makes {@link #onWake} ignore listeners that are added after this call. Workers then find jobs by polling, like
     * workers of different processes on one database. Call it before a worker starts. A second call changes nothing,
     * and no call undoes it.
     *
     * @return this store
     */
    public InMemoryJobStore pollOnly() {
        pollOnly = true;
        return this;
    }

    private <T extends @Nullable Object> T locked(Function<Instant, T> work) {
        synchronized (tables) {
            return work.apply(now());
        }
    }

    /** Does work like {@link #locked} that may make jobs due. Listeners are called without the lock. */
    private <T extends @Nullable Object> T waking(Function<Instant, T> work) {
        T answer = locked(work);
        listeners.forEach(InMemoryJobStore::tell);
        return answer;
    }

    private static void tell(Runnable listener) {
        try {
            listener.run();
        } catch (RuntimeException e) {
            // What was written stays in any case, and polling finds it.
            log.warn("A listener for work failed", e);
        }
    }

    @Override
    public void prepare() {}

    @Override
    public Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MICROS);
    }

    /**
     * This store has no transactions and refuses each one.
     *
     * @throws IllegalArgumentException always
     */
    @Override
    public JobWriter within(Transaction transaction) {
        if (transaction instanceof InMemoryTransaction own) {
            return own.writer(this);
        }
        throw new IllegalArgumentException("InMemoryJobStore takes part in InMemoryTransactions only, not in "
                + transaction.getClass().getName());
    }

    /** Removes a job as if it had never been stored. */
    void forget(JobId id) {
        locked(now -> {
            StoredJob job = tables.jobs.get(id);
            if (job != null) {
                tables.batches.removed(job.spec);
                tables.delete(job);
            }
            return now;
        });
    }

    @Override
    public List<Enqueued> insert(List<JobSpec> specs) {
        return waking(now -> inserting.insert(specs, now));
    }

    @Override
    public Settled settle(List<Settlement> settlements, Collection<Long> closing) {
        return waking(now -> settling.settle(settlements, closing, now));
    }

    @Override
    public Settled settle(List<Settlement> settlements) {
        return waking(now -> {
            Settled settled = settling.settle(settlements, List.of(), now);
            settlements.forEach(settlement -> claiming.dropIfEmpty(settlement.token()));
            return settled;
        });
    }

    @Override
    public List<Claim> claim(ClaimRequest request) {
        return locked(now -> claiming.claim(request, now));
    }

    @Override
    public Renewal renew(String worker, Collection<Long> tokens, Duration lease) {
        return locked(now -> claiming.renew(worker, tokens, lease, now));
    }

    @Override
    public void excuse(String worker, Collection<Long> tokens, boolean excused) {
        locked(now -> {
            claiming.excuse(worker, tokens, excused);
            return true;
        });
    }

    @Override
    public List<LostClaim> takeOver(String taker, Duration lease, int maxLeases) {
        return locked(now -> claiming.takeOver(taker, lease, maxLeases, now));
    }

    @Override
    public int dropEmptyLeases(int max) {
        return locked(now -> claiming.dropEmpty(max, now));
    }

    @Override
    public boolean progress(JobId id, long token, Progress progress) {
        return locked(now -> {
            StoredJob job = tables.jobs.get(id);
            if (job == null || !job.isHeldUnder(token)) {
                return false;
            }
            job.progress = progress;
            return true;
        });
    }

    @Override
    public List<Checkpoint.Answer> checkpoint(List<Checkpoint> checkpoints) {
        return locked(now -> checkpoints.stream()
                .map(checkpoint -> steps.write(checkpoint, now))
                .toList());
    }

    /** Answers as {@link #checkpoint} does, and writes nothing. */
    List<Checkpoint.Answer> look(List<Checkpoint> checkpoints) {
        return locked(now -> checkpoints.stream().map(steps::look).toList());
    }

    @Override
    public StepList steps(JobId job) {
        return locked(now -> steps.read(job, now));
    }

    @Override
    public Telling tell(JobId job, String name, String type, String value) {
        return waking(now -> steps.tell(job, name, type, value, now));
    }

    @Override
    public StepEdit.Result editSteps(JobId job, StepEdit edit, AuditNote note) {
        return waking(now -> steps.edit(job, edit, note, now));
    }

    @Override
    public boolean createBatch(String name, @Nullable JobSpec onSuccess, @Nullable JobSpec onEnd) {
        return locked(now -> {
            if (tables.batches.has(name)) {
                return false;
            }
            List<JobSpec> specs =
                    Stream.of(onSuccess, onEnd).filter(Objects::nonNull).toList();
            specs.forEach(this::requireNew);
            Iterator<Enqueued> ids = inserting.insert(specs, now).iterator();
            JobId success = onSuccess == null ? null : waiting(ids.next());
            JobId end = onEnd == null ? null : waiting(ids.next());
            tables.batches.create(name, success, end, now);
            return true;
        });
    }

    private void requireNew(JobSpec spec) {
        StoredJob known = spec.idempotencyKey() == null ? null : tables.idempotent.get(spec.idempotencyKey());
        StoredJob holder = spec.key() == null ? known : tables.keyHolders.get(spec.key());
        StoredJob there = known == null ? holder : known;
        if (there != null) {
            throw RefusedException.followerThere(there.id);
        }
    }

    private JobId waiting(Enqueued job) {
        StoredJob stored = Objects.requireNonNull(tables.jobs.get(job.id()));
        tables.update(stored, () -> stored.waitReason = WaitReason.BATCH);
        return job.id();
    }

    @Override
    public Optional<BatchState> batch(String name) {
        return locked(now -> tables.batches.read(name));
    }

    @Override
    public Page<BatchState> batches(String prefix, int limit, @Nullable String cursor) {
        return locked(now -> tables.batches.page(prefix, limit, cursor));
    }

    @Override
    public Optional<BatchState> closeBatch(String name) {
        return waking(now -> tables.batches.close(name, now));
    }

    @Override
    public Optional<BatchState> finishBatch(String name, AuditNote note) {
        return waking(now -> {
            Optional<BatchState> before = tables.batches.finish(name, now);
            before.filter(BatchState::isFinishable)
                    .ifPresent(batch ->
                            audit.subject(now, "finish-batch", "batch/" + name, note, "dead letters: " + batch.dead()));
            return before;
        });
    }

    @Override
    public List<BatchMember> members(String batch, int after, int limit) {
        return locked(now -> tables.batches.members(batch, after, limit));
    }

    @Override
    public List<Job> expire(int limit, Function<Job, List<JobSpec>> followUps) {
        return waking(now -> {
            List<StoredJob> overdue = tables.byDeadline.stream()
                    .takeWhile(job -> job.isOverdue(now))
                    .limit(limit)
                    .toList();
            overdue.forEach(job -> tables.update(job, () -> job.fail(FailReason.DEADLINE, now)));
            List<Job> expired = overdue.stream().map(StoredJob::read).toList();
            expired.forEach(job -> inserting.insert(followUps.apply(job), now));
            return expired;
        });
    }

    @Override
    public int letFollow(int limit) {
        return locked(now -> inserting.letFollow(limit, now));
    }

    @Override
    public int giveTurns(Duration waited, int limit) {
        return locked(now -> {
            List<StoredJob> late = tables.queues.values().stream()
                    .flatMap(queue -> queue.ready.late(now.minus(waited), limit).stream())
                    .sorted(ReadyJobs.BY_DUE)
                    .limit(limit)
                    .toList();
            late.forEach(job -> tables.update(job, () -> job.turnFor = job.dueAt));
            return late.size();
        });
    }

    @Override
    public int lineUp(String queue, boolean byCreation, int limit) {
        return locked(now -> {
            MemoryQueue asked = tables.queues.get(queue);
            List<StoredJob> retries = asked == null ? List.of() : asked.ready.due(Lane.RETRY, now, limit, job -> true);
            retries.forEach(job -> tables.update(job, () -> {
                job.lane = Lane.FRESH;
                if (byCreation && job.firstDueAt.isBefore(job.dueAt)) {
                    job.dueAt = job.firstDueAt;
                    job.turnFor = job.firstDueAt;
                }
            }));
            return retries.size();
        });
    }

    @Override
    public Optional<Job> find(JobId id) {
        return locked(now -> Optional.ofNullable(tables.jobs.get(id)).map(StoredJob::read));
    }

    @Override
    public Page<Job> find(JobQuery query) {
        return locked(now -> MemoryQueries.find(tables.jobs, query));
    }

    @Override
    public void writeLog(List<LogPart> parts) {
        locked(now -> {
            for (LogPart part : parts) {
                Optional.ofNullable(tables.jobs.get(part.job())).ifPresent(job -> job.writeLog(part));
            }
            return null;
        });
    }

    @Override
    public List<LogLine> log(JobId id, long from) {
        return locked(now -> Optional.ofNullable(tables.jobs.get(id))
                .map(job -> job.log(from))
                .orElse(List.of()));
    }

    @Override
    public List<Attempt> attempts(JobId id) {
        return locked(now ->
                Optional.ofNullable(tables.jobs.get(id)).map(StoredJob::history).orElse(List.of()));
    }

    @Override
    public Set<String> liveQueues() {
        return locked(now -> tables.queues.values().stream()
                .filter(MemoryQueue::isLive)
                .map(queue -> queue.name)
                .collect(Collectors.toSet()));
    }

    @Override
    public DueQueues dueQueues(String after, String before, int looks) {
        return locked(now -> claiming.dueQueues(after, before, looks, now));
    }

    @Override
    public List<QueueState> queues() {
        return locked(now -> tables.queues.values().stream()
                .filter(MemoryQueue::isVisible)
                .map(queue -> queue.read(tables.pause(queue), tables.limit(queue), now))
                .toList());
    }

    @Override
    public int live(String queuePrefix, int most) {
        return locked(now -> (int) Math.min(
                most,
                tables.queues.values().stream()
                        .filter(queue -> queue.name.startsWith(queuePrefix))
                        .mapToLong(MemoryQueue::live)
                        .sum()));
    }

    @Override
    public int depth(String queue, int most) {
        return locked(now -> {
            MemoryQueue known = tables.queues.get(queue);
            return known == null ? 0 : (int) Math.min(most, known.live());
        });
    }

    @Override
    public void pause(String queue, AuditNote note) {
        locked(now -> {
            byHand.pause(queue, note, now);
            return null;
        });
    }

    @Override
    public void resume(String queue, AuditNote note) {
        waking(now -> {
            byHand.resume(queue, note, now);
            return null;
        });
    }

    @Override
    public void limit(String queue, @Nullable Integer maxRunning, AuditNote note) {
        waking(now -> {
            byHand.limit(queue, maxRunning, note, now);
            return null;
        });
    }

    @Override
    public Cancellation cancel(JobId id, AuditNote note, List<JobSpec> followUps) {
        return waking(now -> {
            Cancellation answer = byHand.cancel(tables.jobs.get(id), note, now);
            if (answer == Cancellation.DONE) {
                inserting.insert(followUps, now);
            }
            return answer;
        });
    }

    @Override
    public RequeueResult requeue(JobId id, Requeue requeue, AuditNote note) {
        return waking(now -> byHand.requeue(id, requeue, note, now));
    }

    @Override
    public Map<JobId, JobChange.Answer> changeAll(Map<JobId, JobChange> changes, AuditNote note) {
        return waking(now -> {
            Map<JobId, JobChange.Answer> answers = new HashMap<>();
            changes.forEach((id, change) -> answers.put(id, byHand.change(tables.jobs.get(id), change, note, now)));
            return answers;
        });
    }

    @Override
    public boolean discard(JobId id, AuditNote note) {
        return locked(now -> byHand.discard(tables.jobs.get(id), note, now));
    }

    @Override
    public int prune(Set<JobState> states, Duration age, int limit) {
        return locked(now -> {
            Instant horizon = now.minus(age);
            List<StoredJob> old = states.stream()
                    .flatMap(state -> tables.ended(state).stream()
                            .takeWhile(job -> job.finishedAt != null && job.finishedAt.isBefore(horizon))
                            .limit(limit))
                    .sorted(MemoryTables.BY_FINISH)
                    .limit(limit)
                    .toList();
            old.forEach(tables::delete);
            return old.size();
        });
    }

    @Override
    public int pruneAudit(Duration age, int limit) {
        return locked(now -> audit.prune(now.minus(age), limit));
    }

    @Override
    public Optional<JobId> findByIdempotencyKey(String key) {
        return locked(now -> Optional.ofNullable(tables.idempotent.get(key)).map(job -> job.id));
    }

    @Override
    public Page<AuditEntry> audit(@Nullable JobId job, int limit, @Nullable String cursor) {
        return locked(now -> audit.read(job, limit, cursor));
    }

    @Override
    public void putSchedule(String name, String rule, JobSpec job, Instant nextAt, @Nullable AuditNote note) {
        locked(now -> {
            schedules.put(name, rule, job, nextAt);
            if (note != null) {
                audit.subject(now, "put-schedule", name, note, note.detail());
            }
            return null;
        });
    }

    @Override
    public boolean removeSchedule(String name, @Nullable AuditNote note) {
        return locked(now -> {
            boolean found = schedules.remove(name);
            if (found && note != null) {
                audit.subject(now, "delete-schedule", name, note, note.detail());
            }
            return found;
        });
    }

    @Override
    public boolean pauseSchedule(String name, boolean paused, AuditNote note) {
        return locked(now -> {
            boolean found = schedules.pause(name, paused);
            if (found) {
                audit.subject(now, paused ? "pause-schedule" : "resume-schedule", name, note, null);
            }
            return found;
        });
    }

    @Override
    public Enqueued trigger(String name, JobSpec job, AuditNote note) {
        return waking(now -> {
            Enqueued made = inserting.insert(List.of(job), now).get(0);
            audit.subject(now, "trigger-schedule", name, note, "as job " + made.id());
            return made;
        });
    }

    @Override
    public List<StoredSchedule> schedules() {
        return locked(now -> schedules.all());
    }

    @Override
    public Optional<StoredSchedule> schedule(String name) {
        return locked(now -> schedules.find(name));
    }

    @Override
    public List<StoredSchedule> dueSchedules(int limit, @Nullable StoredSchedule after) {
        return locked(now -> schedules.due(limit, after, now));
    }

    @Override
    public Optional<Instant> nextFiring() {
        return locked(schedules::nextFiring);
    }

    @Override
    public List<Optional<List<Enqueued>>> fireAll(List<Firing> firings) {
        return waking(now -> {
            // All or none: a refusal is found before any schedule moves.
            List<Firing> still = firings.stream().filter(schedules::stands).toList();
            List<Enqueued> inserted = inserting.insert(
                    still.stream().flatMap(firing -> firing.jobs().stream()).toList(), now);
            Iterator<Enqueued> next = inserted.iterator();
            return firings.stream()
                    .map(firing -> still.contains(firing)
                            ? Optional.of(schedules.move(
                                    firing,
                                    firing.jobs().stream()
                                            .map(job -> next.next())
                                            .toList()))
                            : Optional.<List<Enqueued>>empty())
                    .toList();
        });
    }

    @Override
    public Set<JobId> live(Collection<JobId> jobs) {
        return locked(now -> jobs.stream()
                .filter(id -> {
                    StoredJob job = tables.jobs.get(id);
                    return job != null && !job.state.isTerminal();
                })
                .collect(Collectors.toSet()));
    }

    @Override
    public List<ControlRow> controls() {
        return locked(now -> controls.all());
    }

    @Override
    public List<ControlRow> controls(Collection<String> names) {
        return locked(now -> controls.all().stream()
                .filter(row -> names.contains(row.name()))
                .toList());
    }

    @Override
    public List<ControlRow> controlsAfter(long version) {
        return locked(now ->
                controls.all().stream().filter(row -> row.version() > version).toList());
    }

    @Override
    public List<OptionalLong> putControls(List<ControlRow> rows) {
        return locked(now -> rows.stream().map(controls::put).toList());
    }

    @Override
    public OptionalLong putControl(ControlRow row, String action, AuditNote note) {
        return locked(now -> {
            OptionalLong version = controls.put(row);
            if (version.isPresent()) {
                audit.subject(now, action, row.name(), note, null);
            }
            return version;
        });
    }

    @Override
    public Set<String> removeControls(List<ControlRow> rows) {
        return locked(now -> rows.stream()
                .filter(row -> controls.remove(row.name(), row.version()))
                .map(ControlRow::name)
                .collect(Collectors.toSet()));
    }

    @Override
    public Map<String, Long> parked() {
        return locked(now -> controls.parked());
    }

    @Override
    public Set<String> parkedBy() {
        return locked(now -> controls.parkedBy());
    }

    @Override
    public List<Integer> unpark(List<Unparking> requests) {
        return waking(now -> requests.stream().map(controls::unpark).toList());
    }

    @Override
    public void note(String action, String subject, AuditNote note, @Nullable String detail) {
        locked(now -> {
            audit.subject(now, action, subject, note, detail);
            return null;
        });
    }

    @Override
    public Page<DeadGroup> deadGroups(JobQuery query, int limit) {
        return locked(now -> MemoryQueries.deadGroups(tables.jobs, query, limit));
    }

    @Override
    public Optional<Document> document(String kind, String id) {
        return locked(now -> documents.find(kind, id));
    }

    @Override
    public Page<Document> documents(String kind, int limit, @Nullable String after) {
        return locked(now -> documents.page(kind, limit, after));
    }

    @Override
    public OptionalLong putDocument(Document document) {
        return locked(now -> documents.put(document));
    }

    @Override
    public OptionalLong putDocument(Document document, String action, AuditNote note) {
        return locked(now -> {
            OptionalLong version = documents.put(document);
            if (version.isPresent()) {
                audit.subject(now, action, document.subject(), note, note.detail());
            }
            return version;
        });
    }

    @Override
    public boolean removeDocument(Document document) {
        return locked(now -> documents.remove(document));
    }

    @Override
    public boolean removeDocument(Document document, String action, AuditNote note) {
        return locked(now -> {
            boolean removed = documents.remove(document);
            if (removed) {
                audit.subject(now, action, document.subject(), note, note.detail());
            }
            return removed;
        });
    }

    @Override
    public boolean lead(String role, String worker, Duration term) {
        return locked(now -> roles.lead(role, worker, term, now));
    }

    @Override
    public void resign(String role, String worker) {
        locked(now -> {
            roles.resign(role, worker);
            return null;
        });
    }

    @Override
    public void maintain() {
        locked(now -> {
            insights.maintain(now);
            tables.batches.prune(now);
            tables.queues.values().forEach(queue -> queue.rates.values().removeIf(next -> next < Micros.of(now)));
            return null;
        });
    }

    @Override
    public void addCounts(WorkerCounts workerCounts) {
        locked(now -> {
            insights.addCounts(workerCounts, now);
            return null;
        });
    }

    @Override
    public List<Evidence> evidence() {
        return locked(insights::evidence);
    }

    @Override
    public List<CostEntry> spending(Duration age) {
        return locked(now -> insights.spending(age, now));
    }

    @Override
    public List<Activity> activity(Duration ago, int minutes) {
        return locked(now -> insights.activity(ago, minutes, now));
    }

    @Override
    public void addControlEvents(List<ControlEvent> events) {
        locked(now -> {
            insights.addControlEvents(events);
            return true;
        });
    }

    @Override
    public List<ControlEvent> controlEvents(String subject, int limit) {
        return locked(now -> insights.controlEvents(subject, limit));
    }

    @Override
    public List<ActivityPeriod> activity(ActivityQuery query) {
        return locked(now -> insights.activity(query, now));
    }

    @Override
    public void checkIn(WorkerReport report, Duration ttl) {
        locked(now -> {
            insights.checkIn(report, ttl, now);
            return null;
        });
    }

    @Override
    public void checkOut(String worker) {
        locked(now -> {
            insights.checkOut(worker);
            return null;
        });
    }

    @Override
    public List<WorkerState> workers() {
        return locked(insights::workers);
    }

    @Override
    public Optional<QueuePosition> queuePosition(JobId id, int most) {
        return locked(now -> Optional.ofNullable(tables.jobs.get(id)).map(job -> tables.queuePosition(job, most, now)));
    }

    @Override
    public FlowGate flow(String queue, GroupRules rules, @Nullable String group) {
        return locked(now -> claiming.gate(tables.queue(queue), rules, now));
    }

    @Override
    public List<Behind> behind(Map<JobState, Duration> keep) {
        return locked(now -> List.of(
                behind(
                        "deadlines",
                        now,
                        tables.byDeadline.stream()
                                .takeWhile(job -> job.isOverdue(now))
                                .map(job -> job.deadline)),
                behind(
                        "leases",
                        now,
                        tables.leases.values().stream()
                                .map(lease -> lease.expiresAt)
                                .filter(expires -> !expires.isAfter(now))),
                behind(
                        "retention",
                        now,
                        keep.keySet().stream()
                                .flatMap(state -> tables.ended(state).stream())
                                .map(job -> job.finishedAt == null
                                        ? Instant.MAX
                                        : job.finishedAt.plus(Objects.requireNonNull(keep.get(job.state))))
                                .filter(ends -> ends.isBefore(now))
                                .sorted()),
                behind(
                        "schedules",
                        now,
                        schedules.due(Behind.MAX_ROWS, null, now).stream().map(StoredSchedule::nextAt))));
    }

    @Override
    public Map<WaitReason, Long> waiting(int rows) {
        return locked(now -> tables.jobs.values().stream()
                .filter(job -> job.state == JobState.PENDING)
                .limit(rows)
                .collect(Collectors.groupingBy(job -> job.waitReason, Collectors.counting())));
    }

    @Override
    public Map<String, Long> groups(String queue, int rows) {
        return locked(now -> tables.jobs.values().stream()
                .filter(job -> !job.state.isTerminal() && job.spec.queue().equals(queue))
                .limit(rows)
                .filter(job -> job.spec.group() != null)
                .collect(Collectors.groupingBy(job -> String.valueOf(job.spec.group()), Collectors.counting())));
    }

    @Override
    public List<WaitingError> waitingErrors(@Nullable String queuePrefix, int rows) {
        return locked(now -> {
            Map<String, WaitingError> errors = new HashMap<>();
            tables.jobs.values().stream()
                    .filter(job -> job.state == JobState.PENDING && job.counts.attempts() > 0)
                    .filter(job -> queuePrefix == null || job.spec.queue().startsWith(queuePrefix))
                    .limit(rows)
                    .forEach(job -> count(errors, job));
            return errors.values().stream()
                    .sorted(Comparator.comparingLong(WaitingError::jobs)
                            .reversed()
                            .thenComparing(WaitingError::fingerprint))
                    .toList();
        });
    }

    private static void count(Map<String, WaitingError> errors, StoredJob job) {
        JobStatus.LastError error = job.lastError;
        if (error != null) {
            WaitingError known = errors.get(error.fingerprint());
            long jobs = known == null ? 1 : known.jobs() + 1;
            errors.put(
                    error.fingerprint(),
                    new WaitingError(error.fingerprint(), error.type(), error.message(), jobs, job.id));
        }
    }

    @Override
    public StoredBytes bytes(@Nullable String cursor, int rows) {
        return locked(now -> {
            Map<String, Long> bytes = new HashMap<>();
            NavigableMap<JobId, StoredJob> rest =
                    cursor == null ? tables.jobs : tables.jobs.tailMap(new JobId(Long.parseLong(cursor)), false);
            List<StoredJob> part = rest.values().stream().limit(rows).toList();
            for (StoredJob job : part) {
                bytes.merge(job.spec.queue(), job.bytes(), Long::sum);
            }
            boolean more = part.size() == rows;
            return new StoredBytes(
                    bytes, more ? Long.toString(part.get(rows - 1).id.value()) : null);
        });
    }

    private static Behind behind(String piece, Instant now, Stream<Instant> since) {
        List<Instant> waiting = since.limit(Behind.MAX_ROWS).sorted().toList();
        Duration by = waiting.isEmpty() ? Duration.ZERO : Duration.between(waiting.get(0), now);
        return new Behind(piece, waiting.size(), by);
    }

    @Override
    public boolean raise(Alert alert) {
        return locked(now -> insights.raise(alert));
    }

    @Override
    public boolean clear(Alert alert) {
        return locked(now -> insights.clear(alert));
    }

    @Override
    public List<Alert> alerts() {
        return locked(now -> insights.alerts());
    }

    @Override
    public void onWake(Runnable listener) {
        if (!pollOnly) {
            listeners.add(listener);
        }
    }

    @Override
    public void offWake(Runnable listener) {
        listeners.remove(listener);
    }

    @Override
    public void wake() {
        waking(now -> now);
    }

    @Override
    public void close() {}
}
