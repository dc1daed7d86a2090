// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.RecoveryPicture;
import io.reprise.benchmarks.report.Samples;
import io.reprise.benchmarks.system.RepriseSystem;
import io.reprise.insight.ResourceStatus;
import io.reprise.jackson.JacksonCodec;
import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A worker with a backlog of jobs of one resource, which works, has trouble, and works again. Used once. */
public final class RecoveryRun {

    /**
     * The plan of a run.
     *
     * @param jobs the backlog
     * @param call how long a call takes
     * @param trouble the exception of a call during the trouble
     * @param look how long after the first success the rate is measured
     * @param arrivals new jobs per second, from the first call until the end
     */
    record Plan(int jobs, int concurrency, Duration call, Supplier<Exception> trouble, Duration look, int arrivals) {}

    /** The system property that names the file for a picture of the run. */
    public static final String PICTURE = "reprise.bench.series";

    private static final JobType<String> CALL = JobType.of("call", String.class);
    private static final String RESOURCE = "dependency";

    /** The trouble begins after this time, or earlier if half of the jobs are done: there must be a backlog. */
    private static final Duration BEFORE = Duration.ofSeconds(4);

    private static final Duration TROUBLE = Duration.ofSeconds(10);
    private static final Duration WINDOW = Duration.ofSeconds(2);

    /** Limit for a run that does not recover; then the figures so far count. */
    private static final Duration LIMIT = Duration.ofMinutes(3);

    private static final Duration TICK = Duration.ofMillis(20);
    private static final Duration LOOK = Duration.ofMillis(250);
    private static final int CHUNK = 50_000;

    private final Trial trial;
    private final Plan plan;
    private final int jobs;
    private final TroubledDownstream downstream;
    private final Samples samples = new Samples();
    private volatile int enqueued;
    private volatile boolean ended;
    private volatile long parked;
    private volatile String phase = "";
    private long start;

    RecoveryRun(Trial trial, Plan plan) {
        this.trial = trial;
        this.plan = plan;
        this.jobs = trial.sizes().jobs(plan.jobs());
        long seconds = BEFORE.plus(TROUBLE).plus(LIMIT).plus(LIMIT).toSeconds();
        this.downstream = new TroubledDownstream(
                Math.toIntExact(jobs + seconds * plan.arrivals()), plan.call().toNanos(), plan.trouble());
    }

    Map<String, Double> measure() throws Exception {
        Target target = trial.install();
        try (Reprise client = RepriseSystem.client(target)) {
            for (int from = 0; from < jobs; from += CHUNK) {
                enqueue(client, Math.min(jobs, from + CHUNK));
            }
            target.tidy();
            return watched(target, client);
        }
    }

    private Map<String, Double> watched(Target target, Reprise client) throws Exception {
        Thread feeder = new Thread(() -> feed(client), "feeder");
        Thread watcher = new Thread(() -> watch(client), "watcher");
        try (Reprise worker = work(target)) {
            until(LIMIT, () -> downstream.calls() > 0);
            start = System.nanoTime();
            feeder.start();
            String picture = System.getProperty(PICTURE);
            if (picture != null) {
                watcher.start();
            }
            Map<String, Double> figures = run();
            ended = true;
            feeder.join();
            watcher.join();
            check(worker);
            if (picture != null) {
                RecoveryPicture.write(Path.of(picture), samples.all());
            }
            return figures;
        } finally {
            ended = true;
        }
    }

    private Map<String, Double> run() {
        until(BEFORE, () -> downstream.done() >= jobs / 2);
        long troubled = elapsed();
        double before = samples.rate(troubled / 2, troubled);
        long callsBefore = downstream.calls();
        downstream.fail();
        until(trial.sizes().lasting(TROUBLE), () -> false);
        long recovered = elapsed();
        long callsInTrouble = downstream.calls() - callsBefore;
        downstream.recover();
        boolean back = until(LIMIT, downstream::hasRecovered);
        long first = back ? downstream.firstAfterNanos() - start : elapsed();
        long doneThen = downstream.done();
        long[] gone = new long[1];
        until(LIMIT, () -> {
            // With less than a second of work left, no rate can be measured.
            if (gone[0] == 0 && open() <= before) {
                gone[0] = elapsed();
            }
            return open() <= plan.arrivals();
        });
        long end = elapsed();
        double after = after(first, gone[0] == 0 ? end : gone[0]);
        long left = open() <= plan.arrivals() ? 0 : open();
        double work = enqueued - doneThen;
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put("ofBefore", after / before);
        figures.put("drained", seconds(end - first) / (work / before));
        figures.put("before", before);
        figures.put("after", after);
        figures.put("backlog", work);
        figures.put("seconds", seconds(end - first));
        figures.put("left", (double) left);
        figures.put("callsInTrouble", (double) callsInTrouble);
        figures.put("noticedAfter", seconds(first - recovered));
        return figures;
    }

    /** Returns the rate at the time to measure, or the highest rate if the backlog was gone by then. */
    private double after(long first, long gone) {
        long look = first + trial.sizes().lasting(plan.look()).toNanos();
        long half = trial.sizes().lasting(WINDOW).toNanos() / 2;
        return gone < look + half ? samples.bestRate(first, gone, 2 * half) : samples.rate(look - half, look + half);
    }

    private long open() {
        return enqueued - downstream.done();
    }

    private long elapsed() {
        return System.nanoTime() - start;
    }

    private static double seconds(long nanos) {
        return nanos / 1e9;
    }

    /** Takes samples until the condition holds. Returns false if the time was up first. */
    private boolean until(Duration limit, BooleanSupplier condition) {
        long end = System.nanoTime() + limit.toNanos();
        while (true) {
            if (start != 0) {
                samples.add(new Samples.Sample(elapsed(), downstream.calls(), downstream.done(), parked, phase));
            }
            if (condition.getAsBoolean()) {
                return true;
            }
            if (System.nanoTime() - end >= 0) {
                return false;
            }
            LockSupport.parkNanos(TICK.toNanos());
        }
    }

    private Reprise work(Target target) {
        return Reprise.builder()
                .store(RepriseSystem.store(target))
                .codec(new JacksonCodec())
                .concurrency(plan.concurrency())
                .handle(CALL, (payload, job) -> downstream.run(payload))
                .start();
    }

    private void enqueue(Reprise client, int to) {
        List<JobRequest<String>> requests = Payloads.range(enqueued, to).stream()
                .map(payload -> CALL.job(payload).resource(RESOURCE))
                .toList();
        client.enqueueAll(requests);
        enqueued = to;
    }

    /** Enqueues the jobs that should have arrived by now, again and again. */
    private void feed(Reprise client) {
        while (!ended && plan.arrivals() > 0) {
            int due = jobs + (int) (elapsed() / 1e9 * plan.arrivals());
            if (due > enqueued) {
                enqueue(client, due);
            }
            LockSupport.parkNanos(TICK.toNanos());
        }
    }

    /** Reads the state of the resource, only for a picture, because it costs the database something. */
    private void watch(Reprise client) {
        while (!ended) {
            ResourceStatus status = status(client);
            if (status != null) {
                parked = status.parked();
                phase = status.phase().toString();
            }
            LockSupport.parkNanos(LOOK.toNanos());
        }
    }

    private static @Nullable ResourceStatus status(Reprise client) {
        return client.resources().stream()
                .filter(resource -> resource.name().equals(RESOURCE))
                .findFirst()
                .orElse(null);
    }

    /** Fails unless each job succeeded exactly once, if all have run. */
    private void check(Reprise worker) {
        if (open() > plan.arrivals()) {
            return;
        }
        if (!until(LIMIT, () -> open() == 0 && left(worker) == 0)) {
            throw new IllegalStateException(left(worker) + " jobs are left over");
        }
        downstream.check(enqueued);
    }

    private static long left(Reprise worker) {
        long left = 0;
        for (QueueState queue : worker.queues()) {
            left += queue.count(JobState.RUNNING) + queue.count(JobState.PENDING);
        }
        return left;
    }
}
