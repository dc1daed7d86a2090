// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.control.ControlSettings;
import io.reprise.history.RecordingStore;
import io.reprise.history.Violation;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/** One world that follows a plan: its time, its store, its workers, and the end of all troubles. Used once. */
final class ChaosWorld {

    static final String RESOURCE = "downstream";

    /** How long a fleet may need after the last fault until all jobs have ended. */
    static final Duration DRAIN = Duration.ofMinutes(15);

    /** A worker's copy of the store's clock is as inexact as calls are slow, and no clock is exact. */
    private static final Duration DEADLINE_SLACK = Duration.ofMillis(1_500);

    private static final Duration RESTART = Duration.ofMillis(1_500);

    private final ChaosPlan plan;
    private final ChaosBug breakage;
    private final SplittableRandom seeds;
    private final Timeline timeline;
    private final ChaosLog log;
    private final JobStore store;
    private final List<ChaosWorker> workers = new ArrayList<>();
    private final Map<Fault, Long> counts = new EnumMap<>(Fault.class);
    private final List<Violation> extra = new ArrayList<>();
    private final SplittableRandom restarts;
    private final ChaosPlaces places = new ChaosPlaces(this);
    private long storeDownUntil;
    private boolean chaotic = true;
    private int started;

    ChaosWorld(ChaosPlan plan, ChaosBug breakage) {
        this.plan = plan;
        this.breakage = breakage;
        this.seeds = new SplittableRandom(plan.seed());
        this.timeline = new Timeline(plan.seed());
        this.restarts = seeds.split();
        this.log = new ChaosLog(timeline, DEADLINE_SLACK);
        ChaosBug.ShiftedClock clock = new ChaosBug.ShiftedClock(timeline.clock);
        InMemoryJobStore memory = new InMemoryJobStore(clock);
        this.store = breakage.store(memory, clock);
        memory.onWake(this::wakeSome);
    }

    /** Runs the world to its end, or to the first violation. */
    ChaosOutcome run() {
        for (int i = 0; i < plan.fleet().workers(); i++) {
            workers.add(start("w" + ++started, plan.fleet().concurrency(), i));
        }
        Troubles troubles = new Troubles(this, chance());
        Arrivals arrivals = new Arrivals(this, chance());
        plan.jobs().forEach(job -> timeline.at(job.atNanos(), "client", () -> arrivals.enqueue(job)));
        plan.faults().forEach(fault -> timeline.at(fault.atNanos(), "fault", () -> troubles.happen(fault)));
        arrivals.schedule();
        timeline.await(this::isFailed, ChaosPlan.LENGTH.toNanos());
        if (!isFailed()) {
            settleDown(troubles);
            drain(() -> true);
            if (!isFailed() && plan.jobs().stream().anyMatch(job -> job.duty() == ChaosPlan.Duty.JOIN)) {
                new ChaosJoins(this, troubles).mend();
            }
            finish();
        }
        List<Violation> violations = new ArrayList<>(log.violations());
        violations.addAll(extra);
        return new ChaosOutcome(plan, violations, log.lines(), Map.copyOf(counts), timeline.nanos());
    }

    /** Lets time pass until all jobs have ended and this is so. */
    void drain(BooleanSupplier also) {
        timeline.await(() -> isFailed() || (also.getAsBoolean() && isDrained()), timeline.nanos() + DRAIN.toNanos());
    }

    /** Records a violation that a handler or a person saw. */
    void violated(String rule, JobId job, String what) {
        extra.add(new Violation(rule, "Job " + job + " " + what));
    }

    boolean isFailed() {
        return !log.violations().isEmpty() || !extra.isEmpty();
    }

    /** Stops the faults: dead workers return, and connections are restored. */
    private void settleDown(Troubles troubles) {
        note("faults stop");
        chaotic = false;
        storeDownUntil = 0;
        workers.forEach(ChaosWorker::heal);
        List.copyOf(workers).stream().filter(ChaosWorker::isDead).forEach(this::replace);
        troubles.undo();
        store.removeSchedule(Arrivals.SCHEDULE);
    }

    private boolean isDrained() {
        return store.queues().stream()
                .allMatch(queue -> queue.count(JobState.PENDING) == 0 && queue.count(JobState.RUNNING) == 0);
    }

    private void finish() {
        for (Job job : jobs()) {
            row(job);
        }
        if (!isFailed()) {
            log.checker().finish(true);
        }
    }

    private List<Job> jobs() {
        return store.find(JobQuery.all().limit(1_000)).items();
    }

    /** Compares the jobs that were just changed with the expected ones. */
    void checkRows() {
        for (long id : log.touched()) {
            store.find(new JobId(id)).ifPresent(this::row);
        }
    }

    private void row(Job job) {
        places.seen(job);
        RecordingStore.row(log, job, store.attempts(job.id()), store.steps(job.id()));
    }

    private ChaosWorker start(String name, int concurrency, int place) {
        ChaosWorker worker = new ChaosWorker(this, name, concurrency, ChaosPlaces.offers(place));
        RepriseBuilder builder = Reprise.builder()
                .name(worker.name())
                .queues(Queue.of("fast"), Queue.of("slow").weight(2))
                .lease(plan.fleet().lease())
                .concurrency(concurrency)
                .stopGrace(Duration.ofSeconds(5))
                .cancelGrace(Duration.ofSeconds(2))
                .codec(ChaosHandler.CODEC)
                .listener(event -> log.told(worker.name(), event))
                .handle(ChaosHandler.TYPE, new ChaosHandler(this, worker));
        if (plan.isPlaced()) {
            ChaosPlaces.serve(builder, ChaosPlaces.offers(place));
        }
        if (!plan.fleet().control()) {
            builder.control(ControlSettings.off());
        }
        worker.start(builder);
        return worker;
    }

    /** Starts another process soon after one ended, perhaps with the same name, perhaps with other settings. */
    void ended(ChaosWorker worker) {
        timeline.after(RESTART, "restart", () -> replace(worker));
    }

    private void replace(ChaosWorker gone) {
        int index = workers.indexOf(gone);
        if (index >= 0) {
            String name = restarts.nextBoolean() ? gone.name() : "w" + ++started;
            workers.set(index, start(name, 1 + restarts.nextInt(5), index));
        }
    }

    List<ChaosWorker> workers() {
        return workers;
    }

    JobStore storeFor(ChaosWorker worker, FaultyCalls calls) {
        JobStore watched = plan.isPlaced() ? places.watched(store, worker, worker.offers()) : store;
        JobStore recorded = RecordingStore.around(watched, worker.name(), log);
        return breakage.engine(calls.before(recorded), worker);
    }

    /** Returns the store without faults. */
    JobStore store() {
        return store;
    }

    private void wakeSome() {
        if (workers.isEmpty()) {
            return;
        }
        // A wake-up comes soon, late or not at all.
        ChaosWorker worker = workers.get((int) (timeline.nanos() / 1_000 % workers.size()));
        timeline.after(Duration.ofMillis(1), "wake", worker::wakeUp);
    }

    SplittableRandom chance() {
        return seeds.split();
    }

    Timeline timeline() {
        return timeline;
    }

    ChaosLog log() {
        return log;
    }

    Duration lease() {
        return plan.fleet().lease();
    }

    Instant now() {
        return timeline.clock.instant();
    }

    Instant instant(long nanos) {
        return timeline.origin().plusNanos(nanos);
    }

    boolean isTooDeep() {
        return timeline.isTooDeep();
    }

    boolean isChaotic() {
        return chaotic;
    }

    boolean has(Fault fault) {
        return chaotic && plan.callFaults().contains(fault);
    }

    void count(Fault fault) {
        counts.merge(fault, 1L, Long::sum);
    }

    void note(String text) {
        log.note(text);
    }

    boolean isStoreUp() {
        return timeline.nanos() >= storeDownUntil;
    }

    void storeDown(Duration time) {
        storeDownUntil = Math.max(storeDownUntil, timeline.nanos() + time.toNanos());
    }

    /** Records a violation, because a role threw an exception. A role must survive everything. */
    void broken(String worker, String role, RuntimeException why) {
        note(worker + "'s " + role + " threw " + why);
        StackTraceElement[] trace = why.getStackTrace();
        extra.add(new Violation(
                "role",
                "The " + role + " of " + worker + " threw " + why + (trace.length > 0 ? " at " + trace[0] : "")));
    }
}
