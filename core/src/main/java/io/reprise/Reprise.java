// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.batch.BatchState;
import io.reprise.insight.Activity;
import io.reprise.insight.Alert;
import io.reprise.insight.Behind;
import io.reprise.insight.Costs;
import io.reprise.insight.DeadGroup;
import io.reprise.insight.Evidence;
import io.reprise.insight.Explanation;
import io.reprise.insight.GroupBacklog;
import io.reprise.insight.LogLine;
import io.reprise.insight.QueueLimit;
import io.reprise.insight.QueuePosition;
import io.reprise.insight.ResourceStatus;
import io.reprise.insight.StartLevel;
import io.reprise.internal.control.ControlOperations;
import io.reprise.internal.control.EnqueueCeilings;
import io.reprise.internal.control.LiveSettings;
import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.Engine;
import io.reprise.internal.engine.StoreClock;
import io.reprise.internal.engine.WorkerSettings;
import io.reprise.internal.run.CodeLimits;
import io.reprise.internal.run.FlowRules;
import io.reprise.internal.run.Handlers;
import io.reprise.internal.run.Interceptors;
import io.reprise.internal.settle.Chain;
import io.reprise.internal.settle.Events;
import io.reprise.internal.settle.FollowUps;
import io.reprise.internal.settle.PolicyLayers;
import io.reprise.internal.upkeep.RetentionRole;
import io.reprise.internal.upkeep.ScheduleRule;
import io.reprise.job.Attempt;
import io.reprise.job.AuditEntry;
import io.reprise.job.AuditNote;
import io.reprise.job.DuplicateKeyException;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.job.KeyReusedException;
import io.reprise.job.NotFinishedException;
import io.reprise.job.Page;
import io.reprise.job.PayloadException;
import io.reprise.job.QueueState;
import io.reprise.job.RefusedException;
import io.reprise.job.RepriseException;
import io.reprise.job.StoredSchedule;
import io.reprise.job.Transaction;
import io.reprise.job.WorkerState;
import io.reprise.retry.RetryPolicy;
import io.reprise.settings.CeilingException;
import io.reprise.step.StoredStep;
import io.reprise.step.Telling;
import io.reprise.store.ActivityQuery;
import io.reprise.store.JobStore;
import io.reprise.store.JobWriter;
import io.reprise.store.StoreException;
import io.reprise.text.JsonSyntax;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A durable job queue: it enqueues jobs, and runs the jobs that handlers are registered for.
 *
 * <p>A job whose enqueue was committed runs at least once and reaches a terminal state. It may run again if a worker
 * dies or loses its lease. At most one outcome per lease is accepted.
 *
 * <pre>{@code
 * JobType<Email> SEND = JobType.of("send-email", Email.class);
 * try (Reprise reprise = Reprise.builder()
 *         .store(JdbcJobStore.sqlite(Path.of("jobs.db")))
 *         .handle(SEND, (email, job) -> mailer.send(email))
 *         .start()) {
 *     reprise.enqueue(SEND.job(new Email("ada@example.org")));
 * }
 * }</pre>
 *
 * <p>All methods throw {@link io.reprise.store.StoreException} if the store fails. After an {@code enqueue} that failed
 * so, the job may or may not be stored; an idempotency key makes it safe to repeat. Thread-safe.
 *
 * @since 0.1.0
 */
public final class Reprise implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");
    private static final int GROUPED_JOBS = 50_000;
    private static final Comparator<GroupBacklog> MOST_JOBS = Comparator.comparingLong(
                    (GroupBacklog group) -> -group.jobs())
            .thenComparing(GroupBacklog::queue)
            .thenComparing(GroupBacklog::group);
    private static final Duration FIRST_LOOK = Duration.ofMillis(5);
    private static final Duration LAST_LOOK = Duration.ofMillis(250);

    private final JobStore store;
    /** How old settings may be when a process without a worker enqueues. */
    private static final Duration REFRESH = Duration.ofSeconds(2);

    private final PayloadCodec codec;
    private final PolicyLayers policies;
    private final Handlers handlers;
    private final Events events;
    private final FollowUps followUps;
    private final StoreClock clock;
    private final Driver driver;
    private final RandomGenerator random;
    private final ControlOperations controlOperations;
    private final Wiring wiring;
    private final Interceptors interceptors;
    private final Predictor predictor;
    private final WorkerSettings settings;
    private final LiveSettings live;
    private final AtomicLong refreshedNanos;
    private final EnqueueCeilings ceilings;
    private volatile @Nullable Engine engine;
    private volatile boolean closing;

    /** Set when the last handler has ended: until then handlers may enqueue. */
    private volatile boolean closed;

    /**
     * The surroundings that the builder decides about.
     *
     * @param binder makes the job to store from a request
     * @param engines makes a worker; null if this process has nothing to run
     */
    record Wiring(
            Driver driver,
            RandomGenerator random,
            CurrentTransaction transactions,
            Function<JobRequest<?>, JobSpec> binder,
            Supplier<@Nullable Engine> engines) {}

    Reprise(JobStore store, Engine.Config config, Wiring wiring) {
        this.store = store;
        this.wiring = wiring;
        this.interceptors = config.interceptors();
        this.codec = config.codec();
        this.policies = config.policies();
        this.handlers = config.handlers();
        this.events = config.events();
        this.followUps = config.followUps();
        this.clock = config.clock();
        this.driver = wiring.driver();
        this.random = wiring.random();
        this.controlOperations = new ControlOperations(store, config.control(), config.events());
        this.settings = config.settings();
        this.live = config.live();
        this.refreshedNanos = new AtomicLong(driver.nanos());
        this.predictor = new Predictor(store, driver);
        this.ceilings = config.ceilings();
        config.enqueuer().serves(this::enqueue, this::enqueue);
        lookForStreams();
        config.enqueuer().batches(this::specs, this::store);
    }

    /** Creates a builder with the defaults. Only a store must be set. */
    public static RepriseBuilder builder() {
        return new RepriseBuilder();
    }

    /**
     * Starts the worker, if there are handlers or remote workers. It may be started again after {@link #stopWorker}. A
     * second call does nothing.
     *
     * @throws IllegalStateException if this Reprise is closed
     */
    public synchronized void startWorker() {
        requireOpen(closing);
        if (engine == null) {
            Engine started = wiring.engines().get();
            if (started != null) {
                started.start();
                engine = started;
            }
        }
    }

    /**
     * Stops the worker as {@link #close} does, and leaves the store open: jobs can still be enqueued and read. A second
     * call does nothing.
     */
    public synchronized void stopWorker() {
        Engine running = engine;
        engine = null;
        if (running != null) {
            running.stop();
        }
    }

    /** Returns whether a worker runs in this process. */
    public boolean isWorking() {
        return engine != null;
    }

    /**
     * Stores a job. When this method returns, the job is committed. If {@link RepriseBuilder#joins} finds a transaction
     * of the thread, the job is part of that transaction instead, and workers are woken after the commit.
     *
     * @return the id of the new job, or of the job that its unique or idempotency key led to
     * @throws DuplicateKeyException if a live job holds the unique key and the key rule forbids another
     * @throws KeyReusedException if the idempotency key was used with another proof
     * @throws PayloadException if the payload cannot be encoded
     * @throws IllegalArgumentException if the encoded payload has more than {@value JobSpec#MAX_PAYLOAD_BYTES} bytes
     * @throws CeilingException if an operator's ceiling refuses the job: its queue is full, or its payload is too large
     * @throws IllegalStateException if this Reprise is closed
     */
    public JobId enqueue(JobRequest<?> job) {
        return enqueueAll(List.of(job)).get(0);
    }

    /**
     * Stores jobs in one transaction, all or none. When this method returns, they are committed.
     *
     * @return the ids, in the order of the jobs; see {@link #enqueue(JobRequest)}
     * @throws DuplicateKeyException if a live job holds a unique key and the key rule forbids another; nothing is
     *     stored
     * @throws KeyReusedException if an idempotency key was used with another proof; nothing is stored
     * @throws PayloadException if a payload cannot be encoded; nothing is stored
     * @throws IllegalArgumentException if an encoded payload is too long; nothing is stored
     * @throws CeilingException if an operator's ceiling refuses a job; nothing is stored
     */
    public List<JobId> enqueueAll(List<? extends JobRequest<?>> jobs) {
        return offerAll(jobs).stream().map(Enqueued::id).toList();
    }

    /**
     * Stores jobs as {@link #enqueueAll(List)} does, and returns for each whether it is new or a key led to an older
     * job.
     *
     * @return one answer for each job, in their order
     * @throws DuplicateKeyException see {@link #enqueueAll(List)}
     * @throws KeyReusedException see {@link #enqueueAll(List)}
     * @throws PayloadException see {@link #enqueueAll(List)}
     * @throws IllegalArgumentException see {@link #enqueueAll(List)}
     */
    public List<Enqueued> offerAll(List<? extends JobRequest<?>> jobs) {
        // First: the ceilings are read from the store, which says less when it is closed.
        requireOpen(closed);
        return store(specs(jobs));
    }

    private List<Enqueued> store(List<JobSpec> jobs) {
        requireOpen(closed);
        Transaction current = wiring.transactions().find();
        return interceptors.onEnqueue(jobs, specs -> current == null ? storeAlone(specs) : storeWithin(current, specs));
    }

    private List<Enqueued> storeAlone(List<JobSpec> specs) {
        return events.relay().around(specs.size(), () -> store.insert(specs), inserted -> announce(specs, inserted));
    }

    private List<Enqueued> storeWithin(Transaction current, List<JobSpec> specs) {
        List<Enqueued> inserted = store.within(current).insert(specs);
        wiring.transactions().afterCommit(() -> {
            store.wake();
            announce(specs, inserted);
        });
        return inserted;
    }

    private void announce(List<JobSpec> specs, List<Enqueued> inserted) {
        Instant now = clock.now();
        for (int i = 0; i < specs.size(); i++) {
            announce(specs.get(i), inserted.get(i), now);
        }
    }

    private static void requireOpen(boolean over) {
        if (over) {
            throw new IllegalStateException("This Reprise is closed: enqueue before close(), and in an application"
                    + " framework before it shuts down");
        }
    }

    /**
     * Stores a job inside the caller's transaction: it exists if and only if that transaction commits. Workers find it
     * soon after the commit by polling. Listeners receive no ENQUEUED event.
     *
     * @param transaction the open transaction, from the module of the store
     * @return the id of the new job, or of the job that its unique or idempotency key led to
     * @throws IllegalArgumentException if the transaction belongs to another kind of store, or the payload is too long
     * @throws DuplicateKeyException if a live job holds the unique key and the key rule forbids another
     * @throws KeyReusedException if the idempotency key was used with another proof
     * @throws PayloadException if the payload cannot be encoded
     */
    public JobId enqueue(Transaction transaction, JobRequest<?> job) {
        return enqueueAll(transaction, List.of(job)).get(0);
    }

    /**
     * Stores jobs inside the caller's transaction, as {@link #enqueue(Transaction, JobRequest)} does. If this method
     * throws, the transaction holds none of them.
     *
     * @param transaction the open transaction, from the module of the store
     * @return the ids, in the order of the jobs
     * @throws IllegalArgumentException see {@link #enqueue(Transaction, JobRequest)}
     * @throws DuplicateKeyException see {@link #enqueue(Transaction, JobRequest)}
     * @throws KeyReusedException see {@link #enqueue(Transaction, JobRequest)}
     * @throws PayloadException see {@link #enqueue(Transaction, JobRequest)}
     */
    public List<JobId> enqueueAll(Transaction transaction, List<? extends JobRequest<?>> jobs) {
        requireOpen(closed);
        JobWriter writer = store.within(transaction);
        return interceptors.onEnqueue(specs(jobs), writer::insert).stream()
                .map(Enqueued::id)
                .toList();
    }

    /**
     * Waits until a job has ended, by reading it every few milliseconds at first and four times a second later.
     *
     * @param limit the longest wait; zero or less reads the job and does not wait
     * @throws NotFinishedException if the job has not ended within the limit, or the waiting thread was interrupted
     * @throws RefusedException if the job does not exist (NOT_FOUND)
     */
    public Outcome await(JobId id, Duration limit) {
        AwaitedJob awaited = new AwaitedJob(id);
        driver.await(awaited::hasEnded, limit);
        Job job = readable(awaited.look());
        if (!job.state().isTerminal()) {
            throw new NotFinishedException(id, job.state(), limit);
        }
        return new Outcome(job, codec);
    }

    /**
     * Returns a job as it is now; empty if it does not exist. An encrypted payload or result is readable if the codec
     * has the key.
     */
    public Optional<Job> find(JobId id) {
        return store.find(id).map(this::shown);
    }

    /** Finds several jobs: those that exist, in the order of the ids. */
    public List<Job> findAll(Collection<JobId> ids) {
        return store.findAll(ids).stream().map(this::shown).toList();
    }

    /** One page of the jobs that match; see {@link JobQuery#MAX_LOOKS} for pages that are short. */
    public Page<Job> find(JobQuery query) {
        Page<Job> page = store.find(query);
        return new Page<>(page.items().stream().map(this::shown).toList(), page.next());
    }

    private Job shown(Job job) {
        return predictor.advise(readable(job));
    }

    private Job readable(Job job) {
        String payload = opened(job.spec().payload());
        JobStatus status = job.status();
        String result = status.result() == null ? null : opened(status.result());
        if (payload.equals(job.spec().payload()) && Objects.equals(result, status.result())) {
            return job;
        }
        JobSpec spec = job.spec().toBuilder().payload(payload).build();
        return new Job(job.id(), spec, status.withResult(result), job.counts(), job.times());
    }

    private String opened(String stored) {
        try {
            return stored.startsWith(PayloadCodec.SEALED) ? codec.open(stored) : stored;
        } catch (PayloadException e) {
            return stored;
        }
    }

    /**
     * Returns the batch of this name: jobs with a common end. Nothing is stored until members are added or the batch is
     * closed. If a batch of this name exists, it is that one.
     *
     * @param name name with the form of {@link JobSpec#requireName}
     * @throws IllegalArgumentException if {@code name} does not have this form
     */
    public Batch batch(String name) {
        return new Batch(store, name, new Batch.Wiring(this::specs, this::store));
    }

    /** Returns a batch as it is now; empty if it does not exist. */
    public Optional<BatchState> findBatch(String name) {
        return store.batch(JobSpec.requireName("batch", name));
    }

    /**
     * Returns a page of batches, by name.
     *
     * @param prefix beginning of the names; empty for all
     * @param limit batches per page
     * @param cursor {@link Page#next} of the page before; null for the first page
     */
    public Page<BatchState> batches(String prefix, int limit, @Nullable String cursor) {
        return store.batches(prefix, limit, cursor);
    }

    /**
     * Tells a live job an event, for which its handler waits by {@link JobContext#await}. The event may come before the
     * handler waits. The first event of a name stays. Storing the event and waking the job are one step.
     *
     * @param event name with the form of {@link JobSpec#requireName}
     * @param value encoded by the {@link PayloadCodec}
     * @return true if the event is stored; false if the job knew an event of this name, or had waited too long
     * @throws RefusedException if the job does not exist (NOT_FOUND), has ended, has a step or a sleep of this name, or has
     *     as many steps as a job may have (INVALID_STATE)
     * @throws PayloadException if the value cannot be encoded, or its stored form has more than
     *     {@value StoredStep#MAX_VALUE_BYTES} bytes
     * @throws NullPointerException if the value is null; an event without one is {@link #tellJson} with {@code "null"}
     */
    public boolean tell(JobId id, String event, Object value) {
        Objects.requireNonNull(
                value, () -> "event " + event + " needs a value; without one, call tellJson with \"null\"");
        return tellEncoded(id, event, value.getClass().getName(), codec.encode(value));
    }

    /**
     * Tells a live job an event in JSON, as {@link #tell} does.
     *
     * @param type name for the class of the value in messages
     * @param json JSON text; {@code "null"} if only the coming of the event counts
     * @throws RefusedException see {@link #tell}
     * @throws PayloadException see {@link #tell}
     * @throws IllegalArgumentException if {@code json} is not JSON
     */
    public boolean tellJson(JobId id, String event, String type, String json) {
        return tellEncoded(id, event, type, JsonSyntax.require("event " + event, json));
    }

    private boolean tellEncoded(JobId id, String event, String type, String json) {
        JobSpec.requireName("event", event);
        String stored = codec.seal(json);
        int bytes = stored.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > StoredStep.MAX_VALUE_BYTES) {
            throw new PayloadException("Event " + event + " for job " + id + " has " + bytes + " bytes; at most "
                    + StoredStep.MAX_VALUE_BYTES + " are stored");
        }
        Telling answer = store.tell(id, event, type, stored);
        if (answer == Telling.TOLD) {
            Engine running = engine;
            if (running != null) {
                running.wake();
            }
            return true;
        }
        if (answer == Telling.ALREADY_TOLD) {
            return false;
        }
        String why = switch (answer) {
            case MISSING -> "does not exist";
            case ENDED -> "has ended: nobody waits for event " + event;
            case FULL ->
                "has as many steps as a job may have, " + StoredStep.MAX_STEPS + " with " + StoredStep.MAX_JOB_BYTES
                        + " bytes: event " + event
                        + " does not fit. Keep large values elsewhere and tell where they are";
            default -> "uses the name " + event + " for a step or a sleep, not for an event";
        };
        throw new RefusedException(
                answer == Telling.MISSING ? RefusedException.Code.NOT_FOUND : RefusedException.Code.INVALID_STATE,
                "Job " + id + " " + why);
    }

    /**
     * Returns the steps of a job in the order in which they were written, sleeps and events included. A sleep that is over
     * is DONE. Empty if the job does not exist.
     */
    public List<StoredStep> steps(JobId id) {
        return store.steps(id).now();
    }

    /**
     * Returns the lines that handlers of a job wrote by {@link JobContext#log}, those of its latest 25 runs, oldest
     * first. Lines of a run that is under way come with the heartbeats of its worker. Empty if the job does not exist.
     */
    public List<LogLine> log(JobId id) {
        return store.log(id);
    }

    /**
     * Returns the runs of a job, oldest first. A store keeps the latest 25 unless set otherwise. Empty if the job does
     * not exist.
     */
    public List<Attempt> attempts(JobId id) {
        List<Attempt> stored = store.attempts(id);
        boolean lossesCount = stored.stream().anyMatch(Reprise::isCountedLoss);
        return lossesCount
                ? store.find(id)
                        .map(job -> numbered(stored, job.counts().losses()))
                        .orElse(stored)
                : stored;
    }

    private static boolean isCountedLoss(Attempt attempt) {
        return attempt.ending() == Attempt.Ending.LOST
                && attempt.decision() != null
                && attempt.decision().counts();
    }

    /** Stores number the runs without losses. Where losses count, each run comes after the losses before it. */
    private static List<Attempt> numbered(List<Attempt> stored, int losses) {
        List<Attempt> numbered = new ArrayList<>(stored);
        int before = losses;
        for (int i = stored.size() - 1; i >= 0; i--) {
            Attempt attempt = stored.get(i);
            before -= isCountedLoss(attempt) ? 1 : 0;
            numbered.set(i, attempt.numbered(attempt.number() + Math.max(0, before)));
        }
        return List.copyOf(numbered);
    }

    /**
     * Explains why a job is running, waiting or ended, and what happens next.
     *
     * @throws RefusedException if the job does not exist (NOT_FOUND)
     */
    public Explanation explain(JobId id) {
        QueuePosition queuePosition = store.queuePosition(id, Explanation.MAX_JOBS + 1)
                .orElseThrow(() -> new RefusedException(
                        RefusedException.Code.NOT_FOUND, "Job " + id + " does not exist: it may have been pruned"));
        if (engine == null) {
            live.refresh();
        }
        return new Explainer(
                        store, queuePosition, effective(queuePosition.job()), predictor, controlOperations, flowRules())
                .explain();
    }

    private FlowRules flowRules() {
        return new FlowRules(settings.queues(), live, queue -> CodeLimits.of(store, queue));
    }

    /**
     * Returns how often retries succeeded, by type, resource, error and attempt. All predictions are made from this
     * evidence.
     */
    public List<Evidence> evidence() {
        return store.evidence();
    }

    /**
     * Returns the cost of runs and the jobs that retries saved, in whole days (UTC).
     *
     * @param age the costs begin with the day that was this long ago; stores keep at least 31 days
     */
    public Costs costs(Duration age) {
        return new Costs(store.spending(age));
    }

    /** Returns the live workers of the fleet, by name. Each reports every 10 s, so its numbers can be that old. */
    public List<WorkerState> workers() {
        return store.workers();
    }

    /** Returns the alerts that are raised now. */
    public List<Alert> alerts() {
        return store.alerts();
    }

    /**
     * Returns how many jobs started in time, for each queue with a service level and each of its groups, in the last hours
     * of the clock. At most 200 names are counted in an hour; others are added up as {@link Activity#REST}.
     *
     * @param hours 1 to 180; the last one has just begun
     * @throws IllegalArgumentException if {@code hours} is outside these bounds
     * @see Queue#startWithin
     */
    public List<StartLevel> startLevels(int hours) {
        List<StartLevel> levels = new ArrayList<>();
        for (Activity.Subject subject : List.of(Activity.Subject.START, Activity.Subject.GROUP_START)) {
            Map<String, Activity.Counts> sums = new TreeMap<>();
            store.activity(ActivityQuery.each(subject, Activity.Step.HOUR, hours))
                    .forEach(row -> sums.merge(row.name(), row.counts(), Activity.Counts::plus));
            sums.forEach((name, counts) -> levels.add(new Activity(subject, name, counts).level()));
        }
        return levels;
    }

    /**
     * Returns the limits of a queue's groups and types and its rate, and where each was set: in the settings of the fleet, or
     * in the code of live workers. A worker stores its limits when it starts. If workers have different limits of one
     * name, each is listed. The number of running jobs that {@link Operations#limit} sets is in {@link #queues}.
     */
    public List<QueueLimit> limits(String queue) {
        // Also where a worker reads the settings every two seconds: a person has perhaps just changed them.
        live.refresh();
        return flowRules().limits(queue);
    }

    /**
     * Returns the groups of a queue that have most jobs, running or waiting, the greatest first.
     *
     * @param most groups at most. At most 50,000 jobs of the queue are looked at
     */
    public List<GroupBacklog> topGroups(String queue, int most) {
        return store.groups(queue, GROUPED_JOBS).entrySet().stream()
                .map(group -> new GroupBacklog(queue, group.getKey(), group.getValue()))
                .sorted(MOST_JOBS)
                .limit(most)
                .toList();
    }

    /**
     * Returns up to 100 groups that have most jobs, running or waiting, of the ten queues with most jobs, the greatest
     * first. At most 50,000 jobs of each queue are looked at.
     */
    public List<GroupBacklog> topGroups() {
        return queues().stream()
                .filter(queue -> queue.count(JobState.PENDING) > 0)
                .sorted(Comparator.comparingLong((QueueState queue) -> -queue.count(JobState.PENDING)))
                .limit(10)
                .flatMap(queue -> topGroups(queue.name(), 100).stream())
                .sorted(MOST_JOBS)
                .limit(100)
                .toList();
    }

    /** Returns every queue that has jobs or settings, with counts by state. */
    public List<QueueState> queues() {
        return store.queues();
    }

    /**
     * Returns breaker, budget and number of parked jobs of each resource that has settings here, stored control state
     * or parked jobs.
     */
    public List<ResourceStatus> resources() {
        return controlOperations.resources();
    }

    /** Returns the latest 100 operations that people did on a job, newest first. */
    public List<AuditEntry> audit(JobId id) {
        return store.audit(id, 100);
    }

    /**
     * Returns the latest operations that people did on jobs, queues, breakers or schedules, newest first.
     *
     * @param limit greatest number of entries
     */
    public List<AuditEntry> audit(int limit) {
        return store.audit(null, limit);
    }

    /**
     * Groups dead letters by the fingerprint of their error, the largest group first. Only the newest
     * {@link JobQuery#MAX_LOOKS} dead letters are grouped. If there are more, the page has a cursor for
     * {@link JobQuery#after}, and its counts are of this part only.
     *
     * @param query restricts the dead letters; its states and its limit do not matter
     * @param limit greatest number of groups
     * @throws IllegalArgumentException if the cursor of the query does not come from this store
     */
    public Page<DeadGroup> deadGroups(JobQuery query, int limit) {
        Page<DeadGroup> page = store.deadGroups(query, limit);
        return new Page<>(
                page.items().stream()
                        .map(group -> group.with(shown(group.latest())))
                        .toList(),
                page.next());
    }

    /**
     * Creates a schedule, or changes the schedule of this name. If the rule is the same, the next firing stays as it
     * is. A paused schedule stays paused. A schedule whose end has passed is stored and does not fire.
     *
     * @throws IllegalArgumentException if the cron expression cannot be read, or the job or one that
     *     follows it has an idempotency key
     * @throws PayloadException if the payload of the job cannot be encoded
     * @throws CeilingException if an operator's ceiling refuses a payload
     * @throws RepriseException if the cron expression never fires again
     */
    public void schedule(Schedule schedule) {
        schedule(schedule, null);
    }

    /**
     * Creates or changes a schedule for a person; see {@link #schedule(Schedule)}. The audit entry is written in the
     * same transaction.
     *
     * @param note who does it; null for no audit entry
     * @throws IllegalArgumentException if the cron expression cannot be read, or the job or one that
     *     follows it has an idempotency key
     * @throws PayloadException if the payload of the job cannot be encoded
     * @throws CeilingException if an operator's ceiling refuses a payload
     * @throws RepriseException if the cron expression never fires again
     */
    public void schedule(Schedule schedule, @Nullable AuditNote note) {
        String rule = ScheduleRule.text(schedule);
        JobSpec job = spec(schedule.job());
        ceilings.requirePayloads(job);
        boolean follower = Chain.of(job).stream()
                .flatMap(chain -> chain.links().stream())
                .anyMatch(link -> link.spec().idempotencyKey() != null);
        if (job.idempotencyKey() != null || follower) {
            throw new IllegalArgumentException("schedule '" + schedule.name() + "': its job"
                    + (follower ? ", or one that follows it," : "")
                    + " has an idempotency key, so only the first firing would ever enqueue one");
        }
        Instant next = ScheduleRule.parse(schedule.name(), rule).first(store.now());
        if (next.equals(StoredSchedule.NEVER) && schedule.timing().span().end() == null) {
            throw new RepriseException("Schedule '" + schedule.name() + "' never fires: no time matches '"
                    + schedule.timing().cron() + "'");
        }
        store.putSchedule(schedule.name(), rule, job, next, note);
        Engine running = engine;
        if (running != null) {
            running.reschedule();
        }
    }

    /**
     * Removes a schedule. Jobs that it created stay.
     *
     * @return whether the schedule existed
     */
    public boolean unschedule(String name) {
        return unschedule(name, null);
    }

    /**
     * Removes a schedule for a person. The audit entry is written in the same transaction.
     *
     * @param note who does it; null for no audit entry
     * @return whether the schedule existed
     */
    public boolean unschedule(String name, @Nullable AuditNote note) {
        return store.removeSchedule(name, note);
    }

    /** Returns all schedules, by name. */
    public List<StoredSchedule> schedules() {
        return store.schedules();
    }

    /**
     * Returns how far each piece of the fleet's upkeep is behind. Retention is measured with the fleet's settings, or
     * {@link RepriseBuilder#keepFinished} and {@link RepriseBuilder#keepFailed} of this process.
     */
    public List<Behind> upkeep() {
        WorkerSettings.Keep keep = RetentionRole.keep(settings, live);
        Map<JobState, Duration> ages = new EnumMap<>(JobState.class);
        ages.put(JobState.SUCCEEDED, keep.finished());
        ages.put(JobState.CANCELLED, keep.finished());
        if (keep.failed() != null) {
            ages.put(JobState.FAILED, keep.failed());
        }
        return store.behind(ages);
    }

    /**
     * Returns how long each part of the engine in this process has been working on its present step; zero for a part
     * that rests. A step takes seconds at most: a part that has been in one step for minutes is stuck. Empty if this
     * process has no worker.
     */
    public Map<String, Duration> parts() {
        Engine running = engine;
        return running == null ? Map.of() : running.busy();
    }

    /** Returns a schedule; empty if it does not exist. */
    public Optional<StoredSchedule> findSchedule(String name) {
        return store.schedule(name);
    }

    /**
     * Returns the next firings of a schedule, as if it were not paused. A schedule that ends has fewer. With a fixed
     * delay these are the earliest times: each firing waits for the end of the job before it. Jitter is not in them.
     *
     * @param count number of firings; one if less
     * @throws RefusedException if there is no such schedule (NOT_FOUND)
     */
    public List<Instant> nextRuns(String name, int count) {
        StoredSchedule schedule = findSchedule(name)
                .orElseThrow(() -> new RefusedException(
                        RefusedException.Code.NOT_FOUND, "Schedule '" + name + "' does not exist"));
        return nextRuns(schedule, count);
    }

    /**
     * Returns the next firings of a schedule that was read before, as if it were not paused.
     *
     * @param count number of firings; one if less
     * @throws IllegalArgumentException if the stored rule cannot be read
     */
    public List<Instant> nextRuns(StoredSchedule schedule, int count) {
        return ScheduleRule.parse(schedule.name(), schedule.rule()).upcoming(schedule.nextAt(), count);
    }

    /**
     * Returns when a stored schedule fires.
     *
     * @throws IllegalArgumentException if the stored rule cannot be read
     */
    public Schedule.Timing timing(StoredSchedule schedule) {
        return ScheduleRule.parse(schedule.name(), schedule.rule()).timing();
    }

    /**
     * Returns the object that gives jobs to workers outside this process.
     *
     * @throws IllegalStateException if this process has no worker: call {@link RepriseBuilder#remoteWorkers} on the
     *     builder
     */
    public RemoteWorkers remoteWorkers() {
        Engine running = engine;
        if (running == null) {
            throw new IllegalStateException("Call remoteWorkers() on the builder first");
        }
        return new RemoteWorkers(running.remote());
    }

    /**
     * Returns the operations of a person. The audit log records the person and the reason with each change.
     *
     * @param who name of the person or program, 1 to 100 characters
     * @param why reason, cut at 500 characters; null for none
     * @throws IllegalArgumentException if {@code who} is blank or too long
     */
    public Operations as(String who, @Nullable String why) {
        return new Operations(
                store,
                engine,
                events,
                clock,
                new Operations.Context(
                        random,
                        controlOperations,
                        followUps,
                        codec,
                        this::effective,
                        this::bound,
                        ceilings,
                        new AuditNote(who, why)));
    }

    /**
     * Stops the worker and closes the store. The worker claims no more jobs and lets running handlers finish for
     * {@link RepriseBuilder#stopGrace}. It then interrupts them, gives their jobs back without spending an attempt, and
     * writes all outcomes. A second call does nothing.
     */
    @Override
    public void close() {
        synchronized (this) {
            if (closing) {
                return;
            }
            closing = true;
        }
        try {
            stopWorker();
        } finally {
            closed = true;
            store.close();
        }
    }

    private List<JobSpec> specs(List<? extends JobRequest<?>> jobs) {
        List<JobSpec> specs = new ArrayList<>(jobs.size());
        jobs.forEach(job -> specs.add(spec(job)));
        ceilings.require(specs);
        return specs;
    }

    /** A process without roles has nobody else to follow the fleet's settings. Its worker does that otherwise. */
    private void followSettings() {
        long last = refreshedNanos.get();
        if (engine == null
                && driver.nanos() - last > REFRESH.toNanos()
                && refreshedNanos.compareAndSet(last, driver.nanos())) {
            live.refresh();
            lookForStreams();
        }
    }

    private void lookForStreams() {
        try {
            events.relay().look();
        } catch (StoreException e) {
            log.debug("Nobody knows whether events are wanted: {}", e.getMessage());
        }
    }

    private JobSpec spec(JobRequest<?> job) {
        followSettings();
        return wiring.binder().apply(job);
    }

    /** Returns the policy by which a worker with this configuration decides about the job. */
    private RetryPolicy effective(Job job) {
        return policies.effective(job, handlers.policy(job.type()));
    }

    /** Returns the policy that a job would be stored with if it were enqueued now. */
    private RetryPolicy bound(JobSpec spec) {
        followSettings();
        return policies.bind(spec, handlers.policy(spec.type())).policy();
    }

    private void announce(JobSpec spec, Enqueued inserted, Instant now) {
        if (inserted.created()) {
            events.enqueued(inserted.id(), spec, now, inserted.dueAt());
        }
        Engine running = engine;
        if (running != null) {
            if (inserted.dueAt().isAfter(now)) {
                running.wakeAfter(Duration.between(now, inserted.dueAt()));
            } else {
                running.wake();
            }
        }
    }

    /** Reads a job again and again, at growing intervals, until it has ended. */
    private final class AwaitedJob {
        private final JobId id;
        private long nextLookNanos = driver.nanos();
        private Duration pause = FIRST_LOOK;

        AwaitedJob(JobId id) {
            this.id = id;
        }

        boolean hasEnded() {
            if (driver.nanos() - nextLookNanos < 0) {
                return false;
            }
            pause = pause.compareTo(LAST_LOOK) < 0 ? pause.multipliedBy(2) : LAST_LOOK;
            nextLookNanos = driver.nanos() + pause.toNanos();
            return look().state().isTerminal();
        }

        Job look() {
            return store.find(id)
                    .orElseThrow(() -> new RefusedException(
                            RefusedException.Code.NOT_FOUND, "Job " + id + " does not exist: it may have been pruned"));
        }
    }
}
