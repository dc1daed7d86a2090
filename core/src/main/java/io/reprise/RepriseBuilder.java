// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.control.ControlSettings;
import io.reprise.insight.AlertRules;
import io.reprise.internal.control.ControlConfig;
import io.reprise.internal.control.EnqueueCeilings;
import io.reprise.internal.control.LiveSettings;
import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.Engine;
import io.reprise.internal.engine.Starter;
import io.reprise.internal.engine.StoreClock;
import io.reprise.internal.engine.ThreadDriver;
import io.reprise.internal.engine.WorkerNames;
import io.reprise.internal.engine.WorkerSettings;
import io.reprise.internal.run.CodeLimits;
import io.reprise.internal.run.HandlerEnqueuer;
import io.reprise.internal.run.HandlerExecutor;
import io.reprise.internal.run.Handlers;
import io.reprise.internal.run.Interceptors;
import io.reprise.internal.run.PooledHandlerExecutor;
import io.reprise.internal.settle.EventRelay;
import io.reprise.internal.settle.Events;
import io.reprise.internal.settle.FollowUps;
import io.reprise.internal.settle.PolicyLayers;
import io.reprise.job.JobSpec;
import io.reprise.job.JobSpec.Needs;
import io.reprise.retry.RetryPolicy;
import io.reprise.settings.FleetSettings;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Configures a {@link Reprise}. Only a store is needed. A worker runs if a handler is registered or
 * {@link #remoteWorkers} is called. The last call of a method wins, unless the method says that calls add up. Not
 * thread-safe.
 *
 * @since 0.1.0
 */
public final class RepriseBuilder {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");

    static {
        Starter.offer(RepriseBuilder::open);
    }

    private @Nullable JobStore store;
    private @Nullable PayloadCodec codec;
    private final Handlers handlers = new Handlers();
    private final List<Queue> queues = new ArrayList<>();
    private final List<Resource> resources = new ArrayList<>();
    private ControlSettings control = ControlSettings.DEFAULT;
    private final List<JobListener> listeners = new ArrayList<>();
    private final List<FollowUpRule> followUps = new ArrayList<>();
    private final List<JobInterceptor> interceptors = new ArrayList<>();
    private CurrentTransaction transactions = CurrentTransaction.NONE;
    private Predicate<JobSpec> mayFire = job -> true;
    private @Nullable String name;
    private final Map<String, Integer> typeConcurrency = new HashMap<>();
    private Set<String> offers = Set.of();
    private int concurrency = 10;
    private int threads = Integer.MAX_VALUE;
    private boolean strictOrder;
    private boolean remoteWorkers;
    private double retryShare = 0.2;
    private RetryPolicy policy = RetryPolicy.unset();
    private boolean livePolicies;
    private FleetSettings fleet = FleetSettings.NONE;
    private boolean retries = true;
    private Duration lease = Duration.ofSeconds(30);
    private Duration poll = Duration.ofSeconds(1);
    private Duration stopGrace = Duration.ofSeconds(30);
    private boolean migrates = true;
    private boolean started;
    private Duration cancelGrace = Duration.ofSeconds(10);
    private Duration keepFinished = Duration.ofDays(7);
    private @Nullable Duration keepFailed;
    private Duration keepAudit = Duration.ofDays(365);
    private AlertRules alerts = AlertRules.DEFAULT;

    RepriseBuilder() {}

    /** Sets the store that keeps the jobs. Required. {@link Reprise#close} closes it. */
    public RepriseBuilder store(JobStore store) {
        this.store = store;
        return this;
    }

    /**
     * Sets the codec that turns payloads into JSON. The default is the first codec that {@link ServiceLoader} finds.
     */
    public RepriseBuilder codec(PayloadCodec codec) {
        this.codec = codec;
        return this;
    }

    /**
     * Registers the handler of a type. Calls add up: one handler for each type. After {@link #open} it may still be
     * called, until {@link Reprise#startWorker}.
     *
     * @throws IllegalArgumentException if a type of this name has a handler already
     * @throws IllegalStateException if the worker has started
     */
    public <P> RepriseBuilder handle(JobType<P> type, JobHandler<P> handler) {
        handlers.add(type, handler);
        return this;
    }

    /**
     * Sets the advisor that may overrule the policy after failures, for all types that have no advisor of their own.
     * The last call wins. The default is none.
     *
     * @throws NullPointerException if {@code advisor} is null
     */
    public RepriseBuilder retryAdvisor(RetryAdvisor advisor) {
        handlers.advisor(advisor);
        return this;
    }

    /**
     * Sets the advisor of one type, in place of the advisor of all types.
     *
     * @throws NullPointerException if {@code advisor} is null
     */
    public RepriseBuilder retryAdvisor(JobType<?> type, RetryAdvisor advisor) {
        handlers.advisor(type.name(), advisor);
        return this;
    }

    /**
     * Serves these queues and no others. Calls add up. Without a call, the worker serves every queue with the same
     * weight.
     *
     * @throws IllegalArgumentException if a name is given twice
     */
    public RepriseBuilder queues(Queue... queues) {
        for (Queue queue : queues) {
            requireNew("Queue", queue.name(), this.queues.stream().map(Queue::name));
            this.queues.add(queue);
        }
        return this;
    }

    /**
     * Sets breaker, budget and policy of single resources. Calls add up. Other resources have the settings of
     * {@link #control}.
     *
     * @throws IllegalArgumentException if a name is given twice
     */
    public RepriseBuilder resources(Resource... resources) {
        for (Resource resource : resources) {
            requireNew("Resource", resource.name(), this.resources.stream().map(Resource::name));
            this.resources.add(resource);
        }
        return this;
    }

    /** Sets breakers and retry budgets. The default is {@link ControlSettings#DEFAULT}. */
    public RepriseBuilder control(ControlSettings settings) {
        this.control = settings;
        return this;
    }

    /**
     * Serves the queues in the order in which they were given: a later queue only when the earlier ones have no due
     * job. The default is by weight. Cannot be undone.
     */
    public RepriseBuilder strictOrder() {
        this.strictOrder = true;
        return this;
    }

    /**
     * Sets how many jobs this process runs at once. The default is 10.
     *
     * @param jobs 1 to 10,000
     * @throws IllegalArgumentException if {@code jobs} is outside these bounds
     */
    public RepriseBuilder concurrency(int jobs) {
        this.concurrency = (int) inRange("concurrency", jobs, 1, 10_000);
        return this;
    }

    /**
     * Limits how many jobs of a type this process runs at once, below {@link #concurrency(int)}. The last call for a type
     * wins. The default is no limit of its own. For a limit of the whole fleet see {@link Queue#perType}.
     *
     * @param jobs 1 to 10,000
     * @throws IllegalArgumentException if {@code jobs} is outside these bounds
     */
    public RepriseBuilder concurrency(JobType<?> type, int jobs) {
        typeConcurrency.put(type.name(), (int) inRange("concurrency of type '" + type.name() + "'", jobs, 1, 10_000));
        return this;
    }

    /**
     * Names what this worker offers, such as {@code gpu} or {@code eu}. It also runs jobs of its queues that need some of
     * it. The default is nothing. See {@link JobRequest#needs}.
     *
     * @throws IllegalArgumentException if a label is refused, or there are more than {@value Needs#MAX_LABELS}
     */
    public RepriseBuilder offers(String... labels) {
        this.offers = Needs.require(List.of(labels));
        return this;
    }

    /**
     * Sets the number of threads that run handlers, if it is smaller than {@link #concurrency}. The default is one
     * thread for each job that runs at once. Use it if all handlers are {@link DeferredHandler}s, which need a thread
     * only to begin.
     *
     * @param threads 1 to 10,000
     * @throws IllegalArgumentException if {@code threads} is outside these bounds
     */
    public RepriseBuilder threads(int threads) {
        this.threads = (int) inRange("threads", threads, 1, 10_000);
        return this;
    }

    /**
     * Sets the share of each claim that is kept for jobs that failed before. The rest is for fresh jobs. Either fills
     * the places that the other leaves, so neither starves. The default is 0.2.
     *
     * @param share 0 to 1
     * @throws IllegalArgumentException if {@code share} is outside these bounds
     */
    public RepriseBuilder retryShare(double share) {
        if (!(share >= 0 && share <= 1)) {
            throw new IllegalArgumentException("retryShare must be 0 to 1, not " + share);
        }
        this.retryShare = share;
        return this;
    }

    /**
     * Sets the retry policy below those of job, type, resource and queue, field by field. Unset fields have the values
     * of {@link RetryPolicy#DEFAULT}. The default is {@link RetryPolicy#unset}.
     */
    public RepriseBuilder retry(RetryPolicy policy) {
        this.policy = policy;
        return this;
    }

    /**
     * Stores with each job only the policy fields that the job sets itself, and its deadline. The worker looks the
     * others up in its own configuration when a run fails. Without this call the whole policy is fixed when the job is
     * enqueued. Cannot be undone.
     */
    public RepriseBuilder livePolicies() {
        this.livePolicies = true;
        return this;
    }

    /**
     * Switches retries of this worker on or off. If off, a failure that would be retried fails the job with reason
     * DISABLED. The default is true.
     */
    public RepriseBuilder retriesEnabled(boolean enabled) {
        this.retries = enabled;
        return this;
    }

    /**
     * Sets how long a silent worker keeps its jobs before another worker takes them over. A live worker renews its
     * leases in time. The default is 30 s.
     *
     * @param lease 500 ms to 1 day
     * @throws IllegalArgumentException if {@code lease} is outside these bounds
     */
    public RepriseBuilder lease(Duration lease) {
        this.lease = inRange("lease", lease, Duration.ofMillis(500), Duration.ofDays(1));
        return this;
    }

    /**
     * Sets the longest time between two looks for work. Enqueueing in this process and signals of the store wake the
     * worker earlier. The default is 1 s.
     *
     * @param most 10 ms to 1 minute
     * @throws IllegalArgumentException if {@code most} is outside these bounds
     */
    public RepriseBuilder poll(Duration most) {
        this.poll = inRange("poll", most, Duration.ofMillis(10), Duration.ofMinutes(1));
        return this;
    }

    /**
     * Sets whether {@link #start} creates or upgrades the schema of the store. If false, the schema must be up to date
     * already; this is not checked. The default is true.
     */
    public RepriseBuilder migrate(boolean wanted) {
        this.migrates = wanted;
        return this;
    }

    /**
     * Sets how long {@link Reprise#close} lets handlers finish before it interrupts them. The default is 30 s.
     *
     * @param grace 0 to 1 day
     * @throws IllegalArgumentException if {@code grace} is outside these bounds
     */
    public RepriseBuilder stopGrace(Duration grace) {
        this.stopGrace = inRange("stopGrace", grace, Duration.ZERO, Duration.ofDays(1));
        return this;
    }

    /**
     * Sets how long an interrupted handler may take to end. After that the outcome is written without it, and the
     * handler's own outcome is ignored. The default is 10 s.
     *
     * @param grace 0 to 1 day
     * @throws IllegalArgumentException if {@code grace} is outside these bounds
     */
    public RepriseBuilder cancelGrace(Duration grace) {
        this.cancelGrace = inRange("cancelGrace", grace, Duration.ZERO, Duration.ofDays(1));
        return this;
    }

    /**
     * Sets how long succeeded and cancelled jobs are kept. The setting of the leading worker applies to the fleet. The
     * default is 7 days.
     *
     * @param age 0 to 36,500 days
     * @throws IllegalArgumentException if {@code age} is outside these bounds
     */
    public RepriseBuilder keepFinished(Duration age) {
        this.keepFinished = inRange("keepFinished", age, Duration.ZERO, JobSpec.MAX_DELAY);
        return this;
    }

    /**
     * Sets how long dead letters are kept. The setting of the leading worker applies to the fleet. Without a call they
     * are never deleted by age.
     *
     * @param age 0 to 36,500 days
     * @throws IllegalArgumentException if {@code age} is outside these bounds
     */
    public RepriseBuilder keepFailed(Duration age) {
        this.keepFailed = inRange("keepFailed", age, Duration.ZERO, JobSpec.MAX_DELAY);
        return this;
    }

    /**
     * Sets how long entries of the audit log are kept. The setting of the leading worker applies to the fleet. The
     * default is 365 days.
     *
     * @param age 0 to 36,500 days
     * @throws IllegalArgumentException if {@code age} is outside these bounds
     */
    public RepriseBuilder keepAudit(Duration age) {
        this.keepAudit = inRange("keepAudit", age, Duration.ZERO, JobSpec.MAX_DELAY);
        return this;
    }

    /**
     * Sets the thresholds of alerts. The rules of the leading worker apply to the fleet. The default is
     * {@link AlertRules#DEFAULT}.
     */
    public RepriseBuilder alerts(AlertRules rules) {
        this.alerts = rules;
        return this;
    }

    /**
     * Sets settings of the fleet that apply unless the store has others; see {@link io.reprise.settings.SettingsBook}.
     * They come before those of this builder. The default is {@link FleetSettings#NONE}.
     */
    public RepriseBuilder fleetSettings(FleetSettings settings) {
        this.fleet = settings;
        return this;
    }

    /**
     * Lets workers outside this process run jobs, through {@link Reprise#remoteWorkers}. The worker of this process
     * then runs even without a handler, and does not claim jobs of types that it has no handler for. Cannot be undone.
     */
    public RepriseBuilder remoteWorkers() {
        this.remoteWorkers = true;
        return this;
    }

    /**
     * Sets the name of this worker, which must be unique in the fleet. The default is made of host, process id and a
     * random part.
     *
     * @throws IllegalArgumentException if {@code name} does not have the form of {@link JobSpec#requireName}
     */
    public RepriseBuilder name(String name) {
        this.name = JobSpec.requireName("name", name);
        return this;
    }

    /** Adds a listener. Calls add up: listeners are called in the order in which they were added. */
    public RepriseBuilder listener(JobListener listener) {
        this.listeners.add(listener);
        return this;
    }

    /**
     * Adds a rule that says which jobs follow others. They are stored together with the outcome that they follow. Calls
     * add up.
     */
    public RepriseBuilder followUps(FollowUpRule rule) {
        this.followUps.add(rule);
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
     * Adds code around the enqueueing and the runs of this process. Calls add up: the interceptor that was added first
     * is the outermost.
     */
    public RepriseBuilder interceptor(JobInterceptor interceptor) {
        this.interceptors.add(interceptor);
        return this;
    }

    /**
     * Lets jobs that are enqueued without a transaction join the one that a framework has bound to the thread. The
     * default is {@link CurrentTransaction#NONE}.
     */
    public RepriseBuilder joins(CurrentTransaction transactions) {
        this.transactions = transactions;
        return this;
    }

    /**
     * Prepares the store and starts the worker, if there are handlers or remote workers. The same as {@link #open} with
     * {@link Reprise#startWorker}.
     *
     * @throws IllegalStateException if no store is set, no codec is found, or this builder was started before
     * @throws io.reprise.store.StoreException if the store cannot be reached or prepared
     */
    public Reprise start() {
        Reprise reprise = open();
        reprise.startWorker();
        return reprise;
    }

    /**
     * Prepares the store, and starts no worker yet: {@link Reprise#startWorker} does. Use it if handlers need the
     * Reprise that they are registered with. Apart from {@link #handle}, a later call on this builder has no effect.
     *
     * @throws IllegalStateException if no store is set, or no codec is found
     * @throws io.reprise.store.StoreException if the store cannot be reached or prepared
     */
    public Reprise open() {
        RandomGenerator random = WorkerNames.random();
        String worker = name == null ? WorkerNames.unique(random) : name;
        int most = Math.min(threads, concurrency);
        return open(worker, new ThreadDriver(worker), () -> new PooledHandlerExecutor(worker, most), random);
    }

    private Reprise open(Engine.Environment environment) {
        return open(name == null ? "worker" : name, environment.driver(), environment::executor, environment.random());
    }

    private Reprise open(String worker, Driver driver, Supplier<HandlerExecutor> executors, RandomGenerator random) {
        if (started) {
            throw new IllegalStateException(
                    "This builder has started a Reprise already: the two would share a store that the first one closes."
                            + " Make a new builder with a store of its own");
        }
        JobStore opened = store;
        if (opened == null) {
            throw new IllegalStateException(
                    "Reprise needs a store: call store(...), for instance with JdbcJobStore.sqlite(path)");
        }
        if (migrates) {
            opened.prepare();
        }
        PayloadCodec coding = codec == null ? findCodec() : codec;
        LiveSettings live = LiveSettings.of(opened, fleet);
        live.refresh();
        live.warnsOf(running());
        live.onChange(settings -> opened.poolSize(settings.defaults().pool()));
        queues.forEach(queue -> queue.groups().warnings(queue.name()).forEach(warning -> log.warn("{}", warning)));
        warnOfUnreachable();
        PolicyLayers policies = new PolicyLayers(resources, queues, policy, livePolicies, live);
        ControlConfig rules = new ControlConfig(control, resources, live, () -> CodeLimits.rates(opened));
        WorkerSettings settings = settings(worker);
        Events events = new Events(listeners, new EventRelay(opened, settings.name()));
        Interceptors around = new Interceptors(interceptors);
        Function<JobRequest<?>, JobSpec> binder = new RequestBinder(coding, around, policies);
        Engine.Config config = new Engine.Config(
                settings,
                handlers,
                around,
                coding,
                policies,
                events,
                new FollowUps(followUps, binder, events),
                new HandlerEnqueuer(),
                new StoreClock(driver, opened.now()),
                alerts,
                rules,
                mayFire,
                retries,
                live,
                new EnqueueCeilings(opened, live, driver::nanos));
        RetryPolicy lowest = policy;
        Reprise.Wiring wiring = new Reprise.Wiring(driver, random, transactions, binder, () -> {
            if (handlers.isEmpty() && !config.settings().onlyHandled()) {
                return null;
            }
            handlers.fix();
            lint(config, lowest);
            return new Engine(opened, config, new Engine.Environment(driver, executors.get(), random));
        });
        started = true;
        return new Reprise(opened, config, wiring);
    }

    private void warnOfUnreachable() {
        Map<String, Integer> limits = new TreeMap<>();
        typeConcurrency.forEach((type, jobs) -> limits.put("type '" + type + "'", jobs));
        queues.forEach(queue -> {
            if (queue.concurrency() != null) {
                limits.put("queue '" + queue.name() + "'", queue.concurrency());
            }
        });
        limits.forEach((whose, jobs) -> {
            if (jobs > concurrency) {
                log.warn(
                        "The worker runs at most {} jobs at once, so the limit of {} jobs of {} is never reached",
                        concurrency,
                        jobs,
                        whose);
            }
        });
    }

    /** Returns the policies of the code that ask for something, by what they are of. */
    private Map<String, RetryPolicy> running() {
        Map<String, RetryPolicy> named = new HashMap<>();
        handlers.types().forEach(type -> named.put("type '" + type + "'", handlers.policy(type)));
        resources.forEach(resource -> named.put("resource '" + resource.name() + "'", resource.policy()));
        queues.forEach(queue -> named.put("queue '" + queue.name() + "'", queue.policy()));
        named.put("the worker", policy);
        return named;
    }

    private static void lint(Engine.Config config, RetryPolicy lowest) {
        List<RetryPolicy> own = Stream.concat(
                        config.handlers().policies().stream(),
                        config.settings().queues().stream().map(Queue::policy))
                .toList();
        Stream.concat(
                        config.control().lint(own, lowest).stream(),
                        ControlConfig.rates(
                                config.settings().queues(),
                                config.settings().timing().lease())
                                .stream())
                .forEach(warning -> log.warn("{} ({})", warning.message(), warning.code()));
    }

    private WorkerSettings settings(String worker) {
        return new WorkerSettings(
                worker,
                concurrency,
                queues,
                typeConcurrency,
                strictOrder,
                retryShare,
                new WorkerSettings.Timing(lease, poll, stopGrace, cancelGrace),
                new WorkerSettings.Keep(keepFinished, keepFailed, keepAudit),
                offers,
                remoteWorkers);
    }

    private static PayloadCodec findCodec() {
        return ServiceLoader.load(PayloadCodec.class)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(
                        "No PayloadCodec found: add the module reprise-codec-jackson, or call codec(...)"));
    }

    private static void requireNew(String what, String name, Stream<String> known) {
        if (known.anyMatch(name::equals)) {
            throw new IllegalArgumentException(what + " '" + name + "' is named twice: name it once");
        }
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
