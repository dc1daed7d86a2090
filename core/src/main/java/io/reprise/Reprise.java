// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.internal.ControlDesk;
import io.reprise.internal.Driver;
import io.reprise.internal.Engine;
import io.reprise.internal.Events;
import io.reprise.internal.Outbox;
import io.reprise.internal.Policies;
import io.reprise.internal.ScheduleRule;
import io.reprise.internal.StoreClock;
import io.reprise.internal.WorkerSettings;
import io.reprise.store.AuditEntry;
import io.reprise.store.Behind;
import io.reprise.store.DeadGroup;
import io.reprise.store.Evidence;
import io.reprise.store.Inserted;
import io.reprise.store.JobQuery;
import io.reprise.store.JobStore;
import io.reprise.store.JobWriter;
import io.reprise.store.Note;
import io.reprise.store.Page;
import io.reprise.store.QueueState;
import io.reprise.store.Standing;
import io.reprise.store.StoredSchedule;
import io.reprise.store.WorkerState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A durable job queue: enqueues jobs, and runs those that handlers were registered for.
 *
 * <p>A job whose enqueue was committed runs until it reaches a terminal state, at least once; it may run again if a worker
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
 * Thread-safe.
 */
public final class Reprise implements AutoCloseable {

    private static final Duration FIRST_LOOK = Duration.ofMillis(5);
    private static final Duration LAST_LOOK = Duration.ofMillis(250);

    private final JobStore store;
    private final PayloadCodec codec;
    private final Policies policies;
    private final Events events;
    private final Outbox outbox;
    private final StoreClock clock;
    private final Driver driver;
    private final RandomGenerator random;
    private final ControlDesk desk;
    private final @Nullable Engine engine;
    private final Advisor advisor;
    private final WorkerSettings.Keep keep;
    private volatile boolean closed;

    Reprise(JobStore store, Engine.Config config, Engine.Seams seams, @Nullable Engine engine) {
        this.store = store;
        this.codec = config.codec();
        this.policies = config.policies();
        this.events = config.events();
        this.outbox = config.outbox();
        this.clock = config.clock();
        this.driver = seams.driver();
        this.random = seams.random();
        this.desk = new ControlDesk(store, config.control(), config.events());
        this.engine = engine;
        this.keep = config.settings().keep();
        this.advisor = new Advisor(store, driver);
    }

    public static RepriseBuilder builder() {
        return new RepriseBuilder();
    }

    /**
     * Stores a job. When this returns, it is committed.
     *
     * @return its id, or that of the job its unique or idempotency key led to
     * @throws DuplicateKeyException if its key rule forbids that
     */
    public JobId enqueue(JobRequest<?> job) {
        return enqueueAll(List.of(job)).get(0);
    }

    /** Stores jobs, all or none, in one round trip. Ids come in the order of the jobs. */
    public List<JobId> enqueueAll(List<? extends JobRequest<?>> jobs) {
        return offerAll(jobs).stream().map(Inserted::id).toList();
    }

    /** The same, and tells of each whether it was stored or a key led to one that was there. */
    public List<Inserted> offerAll(List<? extends JobRequest<?>> jobs) {
        List<JobSpec> specs = specs(jobs);
        List<Inserted> inserted = store.insert(specs);
        Instant now = clock.now();
        for (int i = 0; i < specs.size(); i++) {
            announce(specs.get(i), inserted.get(i), now);
        }
        return inserted;
    }

    /** Stores a job inside the caller's transaction: it exists exactly if that commits. */
    public JobId enqueue(Transaction transaction, JobRequest<?> job) {
        return enqueueAll(transaction, List.of(job)).get(0);
    }

    /** Stores jobs inside the caller's transaction. They are picked up soon after the commit, by polling. */
    public List<JobId> enqueueAll(Transaction transaction, List<? extends JobRequest<?>> jobs) {
        JobWriter writer = store.within(transaction);
        return writer.insert(specs(jobs)).stream().map(Inserted::id).toList();
    }

    /**
     * Waits until a job has ended.
     *
     * @throws NotFinishedException if it has not within the limit
     * @throws RefusedException if there is no such job
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

    /** A job as it is now. What was encrypted can be read, if the codec has the key. */
    public Optional<Job> find(JobId id) {
        return store.find(id).map(this::shown);
    }

    /** The same for several: those that are there, in the order of the ids. */
    public List<Job> findAll(Collection<JobId> ids) {
        return store.findAll(ids).stream().map(this::shown).toList();
    }

    /** One page of the jobs that match; see {@link JobQuery#MAX_LOOKS} for pages that are short. */
    public Page<Job> find(JobQuery query) {
        Page<Job> page = store.find(query);
        return new Page<>(page.items().stream().map(this::shown).toList(), page.next());
    }

    private Job shown(Job job) {
        return advisor.advise(readable(job));
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

    /** The history of a job, oldest first, as far as it is kept. */
    public List<Attempt> attempts(JobId id) {
        return store.attempts(id);
    }

    /** Why a job is, or is not, running now, and what happens next. @throws RefusedException if there is no such job */
    public Explanation explain(JobId id) {
        Standing standing = store.standing(id, Explanation.MOST + 1)
                .orElseThrow(() -> new RefusedException(
                        RefusedException.Code.NOT_FOUND, "Job " + id + " does not exist: it may have been pruned"));
        return new Explainer(store, standing, advisor, desk).explain();
    }

    /** How often retries succeeded, by type, resource, error and attempt. What every prediction is made from. */
    public List<Evidence> evidence() {
        return store.evidence();
    }

    /** What runs cost and retries saved since {@code age} ago, in whole days; the last 31 days are kept. */
    public Costs costs(Duration age) {
        return new Costs(store.spending(age));
    }

    /** The workers of the fleet that live, as of their last report, at most 10 s old. */
    public List<WorkerState> workers() {
        return store.workers();
    }

    /** The alerts that are raised now. */
    public List<Alert> alerts() {
        return store.alerts();
    }

    public List<QueueState> queues() {
        return store.queues();
    }

    /** Breakers, budgets and parked jobs of every resource that has settings, or of which there is something to tell. */
    public List<ResourceStatus> resources() {
        return desk.resources();
    }

    /** What was done by hand to a job, newest first. */
    public List<AuditEntry> audit(JobId id) {
        return store.audit(id, 100);
    }

    /** What was done by hand to anything, newest first. */
    public List<AuditEntry> audit(int limit) {
        return store.audit(null, limit);
    }

    /**
     * Dead letters by what they failed of, the largest group first. Only the newest {@link JobQuery#MAX_LOOKS} are grouped;
     * if there are more, the page has a cursor, for {@link JobQuery#after}, and counts are of this part.
     */
    public Page<DeadGroup> deadGroups(JobQuery query, int limit) {
        Page<DeadGroup> page = store.deadGroups(query, limit);
        return new Page<>(
                page.items().stream()
                        .map(group -> group.with(readable(group.latest())))
                        .toList(),
                page.next());
    }

    /** Creates or changes the schedule of this name. */
    public void schedule(Schedule schedule) {
        String rule = ScheduleRule.text(schedule);
        JobSpec job = spec(schedule.job());
        if (job.idempotencyKey() != null) {
            throw new IllegalArgumentException("schedule '" + schedule.name()
                    + "': its job has an idempotency key, so only the first firing would ever enqueue one");
        }
        Instant now = store.now();
        Instant next = ScheduleRule.parse(schedule.name(), rule).next(now, now);
        store.putSchedule(schedule.name(), rule, job, next);
        if (engine != null) {
            engine.reschedule();
        }
    }

    /** Removes a schedule; jobs it created stay. Returns whether there was one. */
    public boolean unschedule(String name) {
        return store.removeSchedule(name);
    }

    public List<StoredSchedule> schedules() {
        return store.schedules();
    }

    /** How far each piece of the fleet's upkeep is behind; retention by the ages that this Reprise was given. */
    public List<Behind> upkeep() {
        Map<JobState, Duration> ages = new EnumMap<>(JobState.class);
        ages.put(JobState.SUCCEEDED, keep.finished());
        ages.put(JobState.CANCELLED, keep.finished());
        if (keep.failed() != null) {
            ages.put(JobState.FAILED, keep.failed());
        }
        return store.behind(ages);
    }

    /**
     * How long each part of the engine in this process has been at the piece of work it is at; nothing for one that rests. Pieces are
     * bounded and take seconds: a part that has been at one for minutes is stuck. Empty without an engine.
     */
    public Map<String, Duration> parts() {
        return engine == null ? Map.of() : engine.busy();
    }

    public Optional<StoredSchedule> findSchedule(String name) {
        return store.schedule(name);
    }

    /** The next firings of a schedule, were it not paused. @throws RefusedException if there is no such schedule */
    public List<Instant> nextRuns(String name, int count) {
        StoredSchedule schedule = findSchedule(name)
                .orElseThrow(() -> new RefusedException(
                        RefusedException.Code.NOT_FOUND, "Schedule '" + name + "' does not exist"));
        return nextRuns(schedule, count);
    }

    /** The same for one that was read already. */
    public List<Instant> nextRuns(StoredSchedule schedule, int count) {
        return ScheduleRule.parse(schedule.name(), schedule.rule()).upcoming(schedule.nextAt(), count);
    }

    /**
     * Where workers outside this process get their jobs.
     *
     * @throws IllegalStateException unless it was built with {@link RepriseBuilder#remoteWorkers}
     */
    public RemoteWorkers remoteWorkers() {
        if (engine == null) {
            throw new IllegalStateException("Call remoteWorkers() on the builder first");
        }
        return new RemoteWorkers(engine.remote());
    }

    /** Operations in the name of whoever performs them. */
    public Operations as(String who, @Nullable String why) {
        return new Operations(
                store, engine, events, clock, new Operations.Hand(random, desk, outbox, codec, new Note(who, why)));
    }

    /**
     * Stops: claims nothing more, lets running handlers finish within the stop grace, gives back what is left without
     * spending an attempt, writes every outcome, and closes the store.
     */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        try {
            if (engine != null) {
                engine.stop();
            }
        } finally {
            store.close();
        }
    }

    private List<JobSpec> specs(List<? extends JobRequest<?>> jobs) {
        List<JobSpec> specs = new ArrayList<>(jobs.size());
        jobs.forEach(job -> specs.add(spec(job)));
        return specs;
    }

    private JobSpec spec(JobRequest<?> job) {
        return policies.bind(job.toSpec(codec), job.type().policy());
    }

    private void announce(JobSpec spec, Inserted inserted, Instant now) {
        if (inserted.created()) {
            events.enqueued(inserted.id(), spec, now, inserted.dueAt());
        }
        if (engine != null) {
            if (inserted.dueAt().isAfter(now)) {
                engine.expect(Duration.between(now, inserted.dueAt()));
            } else {
                engine.wake();
            }
        }
    }

    /** Looks at a job again and again, less and less often. */
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
