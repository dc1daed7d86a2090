// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.engine;

import io.reprise.PayloadCodec;
import io.reprise.insight.AlertRules;
import io.reprise.internal.control.ControlConfig;
import io.reprise.internal.control.ControlSync;
import io.reprise.internal.control.EnqueueCeilings;
import io.reprise.internal.control.LiveSettings;
import io.reprise.internal.control.LocalControl;
import io.reprise.internal.run.Fetcher;
import io.reprise.internal.run.HandlerEnqueuer;
import io.reprise.internal.run.HandlerExecutor;
import io.reprise.internal.run.Handlers;
import io.reprise.internal.run.Interceptors;
import io.reprise.internal.run.LeaseBook;
import io.reprise.internal.run.LeaseKeeper;
import io.reprise.internal.run.RemoteRuns;
import io.reprise.internal.run.Run;
import io.reprise.internal.run.Runner;
import io.reprise.internal.run.UnhandledTypes;
import io.reprise.internal.settle.Committer;
import io.reprise.internal.settle.EventRelay;
import io.reprise.internal.settle.Events;
import io.reprise.internal.settle.FollowUps;
import io.reprise.internal.settle.OutcomeDecider;
import io.reprise.internal.settle.PolicyLayers;
import io.reprise.internal.settle.PredictionTable;
import io.reprise.internal.settle.RunTotals;
import io.reprise.internal.settle.Settler;
import io.reprise.internal.upkeep.AlertWatch;
import io.reprise.internal.upkeep.Deadlines;
import io.reprise.internal.upkeep.EventRepair;
import io.reprise.internal.upkeep.KeyFollowers;
import io.reprise.internal.upkeep.Leadership;
import io.reprise.internal.upkeep.Reclaimer;
import io.reprise.internal.upkeep.Reporter;
import io.reprise.internal.upkeep.RetentionRole;
import io.reprise.internal.upkeep.ScheduleFirer;
import io.reprise.internal.upkeep.SettingsRole;
import io.reprise.internal.upkeep.Sweeper;
import io.reprise.internal.upkeep.TurnGiver;
import io.reprise.internal.upkeep.UpkeepRole;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running worker. It creates the roles, starts them and stops them in the right order. {@code Reprise} calls it
 * from the user's threads.
 *
 * <p>A job's way: the {@code Fetcher} claims it, the {@code Runner} runs its handler, the {@code Committer} settles it.
 * The settlement succeeds the job, lets it wait for a retry, parks it or makes it a dead letter.
 */
public final class Engine {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");
    private static final Duration COMMIT_GRACE = Duration.ofSeconds(30);

    /** Connects the engine to time, threads and random numbers. */
    public record Environment(Driver driver, HandlerExecutor executor, RandomGenerator random) {}

    /** The parts that the user configured. */
    public record Config(
            WorkerSettings settings,
            Handlers handlers,
            Interceptors interceptors,
            PayloadCodec codec,
            PolicyLayers policies,
            Events events,
            FollowUps followUps,
            HandlerEnqueuer enqueuer,
            StoreClock clock,
            AlertRules alerts,
            ControlConfig control,
            Predicate<JobSpec> mayFire,
            boolean retries,
            LiveSettings live,
            EnqueueCeilings ceilings) {}

    private final JobStore store;
    private final WorkerSettings settings;
    private final Driver driver;
    private final HandlerExecutor executor;
    private final LeaseBook book = new LeaseBook();
    private final Fetcher fetcher;
    private final Runner runner;
    private final Committer committer;
    private final LeaseKeeper leaseKeeper;
    private final Leadership leadership;
    private final Role reclaimer;
    private final Role deadlines;
    private final Role turns;
    private final Role followers;
    private final Role eventRepair;
    private final Role scheduler;
    private final Role retention;
    private final Role sweeper;
    private final Reporter reporter;
    private final Role follower;
    private final EventRelay relay;
    private final ControlSync controlSync;
    private final RemoteRuns remote;
    private final Runnable waker = this::wake;

    public Engine(JobStore store, Config config, Environment environment) {
        this.store = store;
        this.settings = config.settings();
        this.driver = environment.driver();
        this.executor = environment.executor();
        StoreClock clock = config.clock();
        LocalControl control = new LocalControl(config.control(), clock, this::syncNow, this::measure);
        EngineParts parts = new EngineParts(
                store,
                settings,
                config.handlers(),
                config.interceptors(),
                config.codec(),
                driver,
                executor,
                clock,
                config.events(),
                config.followUps(),
                config.enqueuer(),
                new RunTotals(),
                control,
                new UnhandledTypes(store, driver, config.handlers().types()),
                config.live(),
                environment.random());
        PredictionTable predictions = new PredictionTable();
        OutcomeDecider decider = new OutcomeDecider(config.policies(), parts, predictions, config.retries());
        Settler settler = new Settler(parts, decider, this::wakeAfter);
        this.committer = new Committer(parts, book, settler, this::wake);
        this.runner = new Runner(parts, book, committer);
        this.fetcher = new Fetcher(parts, book, runner);
        this.leaseKeeper = new LeaseKeeper(parts, book, runner);
        this.leadership = new Leadership(parts);
        this.reclaimer = new UpkeepRole(parts, leadership, new Reclaimer(parts, settler, this::wake));
        this.deadlines = new UpkeepRole(parts, leadership, new Deadlines(parts));
        this.turns = new UpkeepRole(parts, leadership, new TurnGiver(parts));
        this.followers = new UpkeepRole(parts, leadership, new KeyFollowers(parts, this::wake));
        this.eventRepair = new UpkeepRole(parts, leadership, new EventRepair(parts));
        ScheduleFirer schedules = new ScheduleFirer(store, config, this::wake);
        this.scheduler = new UpkeepRole(parts, leadership, schedules);
        this.retention = new UpkeepRole(parts, leadership, new RetentionRole(parts));
        this.sweeper = new UpkeepRole(parts, leadership, new Sweeper(parts, new AlertWatch(parts, config.alerts())));
        this.controlSync = new ControlSync(parts, control, config.control(), leadership::isLeader);
        this.reporter = new Reporter(parts, book, predictions, config.control().codeRates());
        this.follower = new SettingsRole(parts);
        this.relay = config.events().relay();
        this.remote = new RemoteRuns(parts, settler);
    }

    public void start() {
        store.onWake(waker);
        List.<Role>of(
                        controlSync,
                        committer,
                        runner,
                        leaseKeeper,
                        reclaimer,
                        deadlines,
                        turns,
                        followers,
                        eventRepair,
                        scheduler,
                        retention,
                        sweeper,
                        reporter,
                        follower,
                        relay,
                        fetcher)
                .forEach(driver::start);
        log.info(
                "Worker {} started: {} jobs at once from {}",
                settings.name(),
                settings.concurrency(),
                settings.queues().isEmpty()
                        ? "every queue"
                        : settings.queues().stream().map(queue -> queue.name()).collect(Collectors.joining(", ")));
    }

    /** Returns access to runs in other processes. */
    public RemoteRuns remote() {
        return remote;
    }

    /** How long each role has been in its present step; zero for a role that rests. */
    public Map<String, Duration> busy() {
        return driver.busy();
    }

    /** Tells the fetcher that jobs may be due. */
    public void wake() {
        driver.wake(fetcher);
    }

    /** Makes the control state sync with the store at once. */
    public void syncNow() {
        controlSync.syncNow();
    }

    private void measure() {
        controlSync.begin();
    }

    /** Tells the fetcher that a job is due after this delay. */
    public void wakeAfter(Duration delay) {
        fetcher.wakeAfter(delay);
    }

    /** Tells the scheduler that schedules have changed. */
    public void reschedule() {
        driver.wake(scheduler);
    }

    /** Cancels the job's run at once if it runs here. */
    public void cancel(JobId id) {
        book.runs(id).forEach(run -> runner.stop(run, Run.Stop.CANCELLED));
    }

    /**
     * Tells the store whether the worker's open leases are excused, because it is stopping. If the process is killed
     * during the stop, jobs of excused leases count an interruption, not a loss.
     */
    private void excuse(boolean excused) {
        List<Long> tokens = book.unfinished().stream()
                .map(run -> run.lease.token)
                .distinct()
                .toList();
        if (tokens.isEmpty()) {
            return;
        }
        try {
            store.excuse(settings.name(), tokens, excused);
        } catch (StoreException e) {
            log.warn("Worker {} could not say that it goes: {}", settings.name(), e.getMessage());
        }
    }

    /**
     * Stops in four steps. It stops claiming and gives back runs that have not started. It lets running handlers finish
     * within the grace. It interrupts the rest and gives them back. It writes every outcome before it returns.
     *
     * <p>A handler that ignores its interrupt keeps its lease until the lease expires, so that no
     * second run begins beside it.
     */
    public void stop() {
        // An interrupt from before must not shorten the stop. An interrupt that arrives now does.
        boolean interrupted = Thread.interrupted();
        log.info("Worker {} is stopping: {} jobs in hand", settings.name(), book.open());
        store.offWake(waker);
        driver.stop(fetcher);
        // Another worker must lead from now on. This worker claims nothing, so it must not unpark
        // jobs that no worker runs.
        List.of(reclaimer, deadlines, turns, followers, eventRepair, scheduler, retention, sweeper)
                .forEach(driver::stop);
        leadership.resign();
        runner.giveBack(book.unfinished());
        excuse(true);
        if (!driver.await(() -> book.unfinished().isEmpty(), settings.timing().stopGrace())) {
            book.unfinished().forEach(run -> runner.stop(run, Run.Stop.SHUTDOWN));
            if (!driver.await(
                    () -> book.unfinished().isEmpty(), settings.timing().cancelGrace())) {
                // Takes the excuse back. A job that shuts its own process down, and whose run ignores the
                // interrupt, must count as lost.
                excuse(false);
            }
        }
        if (!driver.await(committer::isIdle, COMMIT_GRACE)) {
            log.error(
                    "Worker {} stops with outcomes that could not be written; their leases will expire",
                    settings.name());
        }
        List.of(committer, runner, leaseKeeper, controlSync, reporter, follower, relay)
                .forEach(driver::stop);
        relay.finish();
        reporter.checkOut();
        executor.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        log.info("Worker {} stopped", settings.name());
    }
}
