// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.AlertRules;
import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.PayloadCodec;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
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
    public record Seams(Driver driver, Bench bench, RandomGenerator random) {}

    /** The parts that the user configured. */
    public record Config(
            WorkerSettings settings,
            Handlers handlers,
            PayloadCodec codec,
            Policies policies,
            Events events,
            Outbox outbox,
            StoreClock clock,
            AlertRules alerts,
            ControlRules control,
            Predicate<JobSpec> mayFire,
            boolean retries) {}

    private final JobStore store;
    private final WorkerSettings settings;
    private final Driver driver;
    private final Bench bench;
    private final LeaseBook book = new LeaseBook();
    private final Fetcher fetcher;
    private final Runner runner;
    private final Committer committer;
    private final LeaseKeeper leaseKeeper;
    private final Leadership leadership;
    private final Role reclaimer;
    private final Role deadlines;
    private final Role scheduler;
    private final Role retention;
    private final Role sweeper;
    private final Reporter reporter;
    private final Warden warden;
    private final RemoteRuns remote;
    private final Runnable waker = this::wake;

    public Engine(JobStore store, Config config, Seams seams) {
        this.store = store;
        this.settings = config.settings();
        this.driver = seams.driver();
        this.bench = seams.bench();
        StoreClock clock = config.clock();
        Control control = new Control(config.control(), clock, this::hurry, this::measure);
        EngineParts parts = new EngineParts(
                store,
                settings,
                config.handlers(),
                config.codec(),
                driver,
                bench,
                clock,
                config.events(),
                config.outbox(),
                new Tallies(),
                control,
                new UnhandledTypes(store, driver),
                seams.random());
        Outlook outlook = new Outlook();
        Decider decider = new Decider(config.policies(), parts, outlook, config.retries());
        this.committer = new Committer(parts, book, decider, this::expect, this::wake);
        this.runner = new Runner(parts, book, committer);
        this.fetcher = new Fetcher(parts, book, runner);
        this.leaseKeeper = new LeaseKeeper(parts, book, runner);
        this.leadership = new Leadership(parts);
        this.reclaimer = new UpkeepRole(parts, leadership, new Reclaimer(parts, decider, this::wake));
        this.deadlines = new UpkeepRole(parts, leadership, new Deadlines(parts));
        ScheduleFirer schedules = new ScheduleFirer(store, config.events(), config.mayFire(), this::wake);
        this.scheduler = new UpkeepRole(parts, leadership, schedules);
        this.retention = new UpkeepRole(parts, leadership, new Retention(parts));
        this.sweeper = new UpkeepRole(parts, leadership, new Sweeper(parts, new AlertWatch(parts, config.alerts())));
        this.warden = new Warden(parts, control, config.control(), leadership::isLeader);
        this.reporter = new Reporter(parts, book, outlook);
        this.remote = new RemoteRuns(parts, decider, this::expect);
    }

    public void start() {
        store.onWake(waker);
        List.of(
                        warden,
                        committer,
                        runner,
                        leaseKeeper,
                        reclaimer,
                        deadlines,
                        scheduler,
                        retention,
                        sweeper,
                        reporter,
                        fetcher)
                .forEach(driver::start);
        log.info(
                "Worker {} started: {} jobs at once from {}",
                settings.name(),
                settings.concurrency(),
                settings.queues().stream().map(queue -> queue.name()).toList());
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
    public void hurry() {
        warden.hurry();
    }

    private void measure() {
        warden.begin();
    }

    /** Tells the fetcher that a job is due after this delay. */
    public void expect(Duration delay) {
        fetcher.expect(delay);
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
        List.of(reclaimer, deadlines, scheduler, retention, sweeper).forEach(driver::stop);
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
        List.of(committer, runner, leaseKeeper, warden, reporter).forEach(driver::stop);
        reporter.farewell();
        bench.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        log.info("Worker {} stopped", settings.name());
    }
}
