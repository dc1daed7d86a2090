// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.control.ControlSettings;
import io.reprise.internal.ControlRules;
import io.reprise.internal.Engine;
import io.reprise.internal.Events;
import io.reprise.internal.Handlers;
import io.reprise.internal.Outbox;
import io.reprise.internal.Policies;
import io.reprise.internal.PoolBench;
import io.reprise.internal.Starter;
import io.reprise.internal.StoreClock;
import io.reprise.internal.ThreadDriver;
import io.reprise.internal.WorkerNames;
import io.reprise.internal.WorkerSettings;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Configures a {@link Reprise}. Only a store is needed; a worker runs in it as soon as a handler is registered. Not
 * thread-safe.
 */
public final class RepriseBuilder {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");

    static {
        Starter.offer(RepriseBuilder::start);
    }

    private @Nullable JobStore store;
    private @Nullable PayloadCodec codec;
    private final Handlers handlers = new Handlers();
    private final List<Queue> queues = new ArrayList<>();
    private final List<Resource> resources = new ArrayList<>();
    private ControlSettings control = ControlSettings.DEFAULT;
    private final List<JobListener> listeners = new ArrayList<>();
    private final List<SequelRule> sequels = new ArrayList<>();
    private Predicate<JobSpec> mayFire = job -> true;
    private @Nullable String name;
    private int concurrency = 10;
    private int threads = Integer.MAX_VALUE;
    private boolean strictOrder;
    private boolean handles;
    private boolean remoteWorkers;
    private double retryShare = 0.2;
    private RetryPolicy policy = RetryPolicy.unset();
    private boolean livePolicies;
    private boolean retries = true;
    private Duration lease = Duration.ofSeconds(30);
    private Duration poll = Duration.ofSeconds(1);
    private Duration stopGrace = Duration.ofSeconds(30);
    private boolean migrates = true;
    private Duration cancelGrace = Duration.ofSeconds(10);
    private Duration keepFinished = Duration.ofDays(7);
    private @Nullable Duration keepFailed;
    private Duration keepAudit = Duration.ofDays(365);
    private AlertRules alerts = AlertRules.DEFAULT;

    RepriseBuilder() {}

    /** Where jobs live. Closed together with the {@link Reprise}. */
    public RepriseBuilder store(JobStore store) {
        this.store = store;
        return this;
    }

    /** How payloads become JSON; unless set, the one codec found on the class path or module path. */
    public RepriseBuilder codec(PayloadCodec codec) {
        this.codec = codec;
        return this;
    }

    /** Registers the code that runs a type. @throws IllegalArgumentException if the type has a handler already */
    public <P> RepriseBuilder handle(JobType<P> type, JobHandler<P> handler) {
        handlers.add(type, handler);
        handles = true;
        return this;
    }

    /** Serves these queues, and no others. Without a call of this, every queue is served, all with the same weight. */
    public RepriseBuilder queues(Queue... queues) {
        this.queues.addAll(List.of(queues));
        return this;
    }

    /** Settings and policies of downstream things; resources that are not named here have those of the worker. */
    public RepriseBuilder resources(Resource... resources) {
        this.resources.addAll(List.of(resources));
        return this;
    }

    /** Breakers and retry budgets; {@link ControlSettings#DEFAULT} unless set. */
    public RepriseBuilder control(ControlSettings settings) {
        this.control = settings;
        return this;
    }

    /** Serves the queues in the order they were given: a later one only when the earlier ones are empty. */
    public RepriseBuilder strictOrder() {
        this.strictOrder = true;
        return this;
    }

    /** Jobs that run at once in this process: 1 to 10,000; 10 unless set. */
    public RepriseBuilder concurrency(int jobs) {
        this.concurrency = (int) inRange("concurrency", jobs, 1, 10_000);
        return this;
    }

    /**
     * Threads that run handlers, if fewer than the jobs that run at once: 1 to 10,000. For workers all of whose handlers are
     * {@link DeferredHandler}s, which need a thread only to begin.
     */
    public RepriseBuilder threads(int threads) {
        this.threads = (int) inRange("threads", threads, 1, 10_000);
        return this;
    }

    /** Part of each batch, 0 to 1, kept for jobs that have failed before, so that neither kind starves; 0.2 unless set. */
    public RepriseBuilder retryShare(double share) {
        if (!(share >= 0 && share <= 1)) {
            throw new IllegalArgumentException("retryShare must be 0 to 1, not " + share);
        }
        this.retryShare = share;
        return this;
    }

    /** Policy beneath those of job, type and queue, field by field; what it leaves unset is as {@link RetryPolicy#DEFAULT}. */
    public RepriseBuilder retry(RetryPolicy policy) {
        this.policy = policy;
        return this;
    }

    /**
     * Stores with each job only the policy fields it sets itself; the rest is looked up in this configuration when a run
     * fails. Otherwise the whole policy is fixed when the job is enqueued.
     */
    public RepriseBuilder livePolicies() {
        this.livePolicies = true;
        return this;
    }

    /** Switches retries off for this worker: a failure that would be retried is final, with reason DISABLED. */
    public RepriseBuilder retriesEnabled(boolean enabled) {
        this.retries = enabled;
        return this;
    }

    /** How long a silent worker keeps its jobs: 500 ms to a day; 30 s unless set. Renewed all along while it lives. */
    public RepriseBuilder lease(Duration lease) {
        this.lease = inRange("lease", lease, Duration.ofMillis(500), Duration.ofDays(1));
        return this;
    }

    /** The longest rest between two looks for work: 10 ms to a minute; 1 s unless set. */
    public RepriseBuilder poll(Duration most) {
        this.poll = inRange("poll", most, Duration.ofMillis(10), Duration.ofMinutes(1));
        return this;
    }

    /** Whether the store is prepared at the start, as it is unless told otherwise. If not, somebody else must have done it. */
    public RepriseBuilder migrate(boolean wanted) {
        this.migrates = wanted;
        return this;
    }

    /** How long {@link Reprise#close} lets handlers finish before it interrupts them: 0 to a day; 30 s unless set. */
    public RepriseBuilder stopGrace(Duration grace) {
        this.stopGrace = inRange("stopGrace", grace, Duration.ZERO, Duration.ofDays(1));
        return this;
    }

    /** How long an interrupted handler may take to end before it is given up: 0 to a day; 10 s unless set. */
    public RepriseBuilder cancelGrace(Duration grace) {
        this.cancelGrace = inRange("cancelGrace", grace, Duration.ZERO, Duration.ofDays(1));
        return this;
    }

    /** How long succeeded and cancelled jobs are kept; 7 days unless set. */
    public RepriseBuilder keepFinished(Duration age) {
        this.keepFinished = inRange("keepFinished", age, Duration.ZERO, JobSpec.MAX_DELAY);
        return this;
    }

    /** How long dead letters are kept; for ever unless set. */
    public RepriseBuilder keepFailed(Duration age) {
        this.keepFailed = inRange("keepFailed", age, Duration.ZERO, JobSpec.MAX_DELAY);
        return this;
    }

    /** How long the audit log says what was done by hand. Default: a year. */
    public RepriseBuilder keepAudit(Duration age) {
        this.keepAudit = inRange("keepAudit", age, Duration.ZERO, JobSpec.MAX_DELAY);
        return this;
    }

    /** When listeners are alerted; {@link AlertRules#DEFAULT} unless set. Those of the worker that leads hold. */
    public RepriseBuilder alerts(AlertRules rules) {
        this.alerts = rules;
        return this;
    }

    /**
     * Lets workers outside this process take part through {@link Reprise#remoteWorkers}. The engine then runs even without
     * a handler, and leaves alone jobs of types it has none for.
     */
    public RepriseBuilder remoteWorkers() {
        this.remoteWorkers = true;
        return this;
    }

    /** Name of this worker, unique in the fleet; unless set, made of host, process id and a random part. */
    public RepriseBuilder name(String name) {
        this.name = JobSpec.requireName("name", name);
        return this;
    }

    public RepriseBuilder listener(JobListener listener) {
        this.listeners.add(listener);
        return this;
    }

    /** Says which jobs follow others, stored together with their outcomes. */
    public RepriseBuilder sequels(SequelRule rule) {
        this.sequels.add(rule);
        return this;
    }

    /**
     * Lets a schedule enqueue its job only if this rule agrees. It may refuse when too many jobs wait, for instance. A firing that is refused is
     * skipped, and the log says so. A thread of the engine asks the rule once for each firing: it must be quick.
     */
    public RepriseBuilder schedulesFireIf(Predicate<JobSpec> rule) {
        this.mayFire = rule;
        return this;
    }

    /**
     * Prepares the store and starts the worker, if there are handlers or remote workers.
     *
     * @throws IllegalStateException if there is no store, or no codec to be found
     */
    public Reprise start() {
        RandomGenerator random = WorkerNames.random();
        String worker = name == null ? WorkerNames.unique(random) : name;
        return start(
                worker,
                new Engine.Seams(
                        new ThreadDriver(worker), new PoolBench(worker, Math.min(threads, concurrency)), random));
    }

    private Reprise start(Engine.Seams seams) {
        return start(name == null ? "worker" : name, seams);
    }

    private Reprise start(String worker, Engine.Seams seams) {
        JobStore opened = store;
        if (opened == null) {
            throw new IllegalStateException(
                    "Reprise needs a store: call store(...), for instance with JdbcJobStore.sqlite(path)");
        }
        if (migrates) {
            opened.prepare();
        }
        PayloadCodec coding = codec == null ? findCodec() : codec;
        Policies policies = new Policies(resources, queues, policy, livePolicies);
        ControlRules rules = new ControlRules(control, resources);
        rules.lint(ownPolicies(), policy).forEach(warning -> log.warn("{} ({})", warning.message(), warning.code()));
        Events events = new Events(listeners);
        Engine.Config config = new Engine.Config(
                settings(worker),
                handlers,
                coding,
                policies,
                events,
                new Outbox(
                        sequels,
                        job -> policies.bind(job.toSpec(coding), job.type().policy()),
                        events),
                new StoreClock(seams.driver(), opened.now()),
                alerts,
                rules,
                mayFire,
                retries);
        Engine engine = handles || remoteWorkers ? new Engine(opened, config, seams) : null;
        Reprise reprise = new Reprise(opened, config, seams, engine);
        if (engine != null) {
            engine.start();
        }
        return reprise;
    }

    private List<RetryPolicy> ownPolicies() {
        return Stream.concat(handlers.policies().stream(), queues.stream().map(Queue::policy))
                .toList();
    }

    private WorkerSettings settings(String worker) {
        return new WorkerSettings(
                worker,
                concurrency,
                queues,
                strictOrder,
                retryShare,
                new WorkerSettings.Timing(lease, poll, stopGrace, cancelGrace),
                new WorkerSettings.Keep(keepFinished, keepFailed, keepAudit),
                remoteWorkers);
    }

    private static PayloadCodec findCodec() {
        return ServiceLoader.load(PayloadCodec.class)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(
                        "No PayloadCodec found: add the module reprise-codec-jackson, or call codec(...)"));
    }

    private static long inRange(String field, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(field + " must be " + min + " to " + max + ", not " + value);
        }
        return value;
    }

    private static Duration inRange(String field, Duration value, Duration min, Duration max) {
        if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
            throw new IllegalArgumentException(field + " must be " + min + " to " + max + ", not " + value);
        }
        return value;
    }
}
