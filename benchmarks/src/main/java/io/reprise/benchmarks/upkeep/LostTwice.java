// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.upkeep;

import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.benchmarks.measure.RunChecks;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.workload.Trial;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.ClaimRequest;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** U6: jobs of 50 ms whose worker was lost twice. Goal: half the usual rate within a minute. */
public final class LostTwice extends UpkeepWorkload {

    private static final int JOBS = 4_000;
    private static final int AT_ONCE = 100;
    private static final Duration TAKES = Duration.ofMillis(50);
    private static final JobType<String> SHORT = JobType.of("short", String.class)
            .retry(RetryPolicy.fixed(Duration.ofMillis(1)).maxAttempts(3));

    @Override
    public String name() {
        return "U6";
    }

    @Override
    public String title() {
        return "4,000 jobs of 50 ms that were lost twice, 100 at once";
    }

    @Override
    List<Figure> measure(Trial trial, Target target) throws Exception {
        int jobs = trial.sizes().jobs(JOBS);
        double usual = drain(target, jobs, 0);
        AtomicInteger most = new AtomicInteger();
        double lost = drain(target, jobs, 2, most);
        Map<String, Double> values = new LinkedHashMap<>();
        values.put(Figure.RATE, lost);
        values.put("ofUsual", lost / usual);
        values.put("usual", usual);
        values.put("mostAtOnce", (double) most.get());
        return List.of(new Figure(name(), values));
    }

    private static double drain(Target target, int jobs, int losses) throws Exception {
        return drain(target, jobs, losses, new AtomicInteger());
    }

    private static double drain(Target target, int jobs, int losses, AtomicInteger most) throws Exception {
        try (Reprise elsewhere = reprise(target)
                .queues(Queue.of("elsewhere"))
                .handle(JobType.of("none", String.class), (payload, job) -> {})
                .start()) {
            JobRequest<String> job = SHORT.job("x").queue("short");
            elsewhere.enqueueAll(Collections.nCopies(jobs, job));
            for (int lost = 1; lost <= losses; lost++) {
                lose(target, jobs);
                await(target, "select count(*) from reprise_job where queue = 'short' and losses = " + lost, jobs);
            }
        }
        target.tidy();
        AtomicInteger running = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        AtomicLong last = new AtomicLong();
        long began = System.nanoTime();
        Reprise worker = reprise(target)
                .queues(Queue.of("short"))
                .concurrency(AT_ONCE)
                .handle(SHORT, (payload, context) -> {
                    most.accumulateAndGet(running.incrementAndGet(), Math::max);
                    LockSupport.parkNanos(TAKES.toNanos());
                    running.decrementAndGet();
                    last.set(System.nanoTime());
                    done.incrementAndGet();
                })
                .start();
        try {
            await(target, live("short"), 0);
        } finally {
            worker.close();
        }
        RunChecks.equal("jobs run", jobs, done.get());
        return jobs * 1e9 / (last.get() - began);
    }

    /** Claims all jobs like a worker that dies at once. The other worker takes the leases over and settles the jobs. */
    private static void lose(Target target, int jobs) {
        try (JobStore store = JdbcJobStore.open(target.jdbcUrl())) {
            for (int claimed = 0; claimed < jobs; ) {
                claimed += store
                        .claim(new ClaimRequest(
                                "dead",
                                Duration.ofMillis(1),
                                jobs,
                                List.of(new ClaimRequest.Demand("short", jobs)),
                                0.2,
                                false))
                        .stream()
                        .mapToInt(claim -> claim.jobs().size())
                        .sum();
            }
        }
    }
}
