// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.upkeep;

import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.workload.Trial;
import io.reprise.retry.RetryPolicy;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * U5: thousands of resources fail and recover. Goal: no slower than fifty resources with as many
 * jobs, and other work goes on.
 */
public final class ManyResources extends UpkeepWorkload {

    private static final int RESOURCES = 5_000;
    private static final int FEW = 50;
    private static final int JOBS_EACH = 10;
    private static final int CHUNK = 5_000;
    private static final Duration DOWN = Duration.ofSeconds(20);
    private static final JobType<String> CALL = JobType.of("call", String.class)
            .retry(RetryPolicy.exponential(Duration.ofSeconds(1))
                    .cap(Duration.ofSeconds(10))
                    .maxAttempts(50));

    @Override
    public String name() {
        return "U5";
    }

    @Override
    public String title() {
        return "5,000 resources fail for 20 s with 50,000 jobs, then come back";
    }

    @Override
    List<Figure> measure(Trial trial, Target target) throws Exception {
        int jobs = trial.sizes().jobs(RESOURCES * JOBS_EACH);
        Figure many = run(
                "U5", target, Math.max(1, jobs / JOBS_EACH), jobs, trial.sizes().lasting(DOWN));
        Figure few = run("U5-few", trial.install(), FEW, jobs, trial.sizes().lasting(DOWN));
        return List.of(many, few);
    }

    private static Figure run(String name, Target target, int resources, int jobs, Duration outage) throws Exception {
        AtomicBoolean down = new AtomicBoolean(true);
        AtomicLong failed = new AtomicLong();
        AtomicLong done = new AtomicLong();
        Map<String, Double> values = new LinkedHashMap<>();
        try (Foreground foreground = new Foreground(target);
                Reprise worker = reprise(target)
                        .queues(Queue.of("calls"))
                        .concurrency(50)
                        .handle(CALL, (payload, context) -> {
                            if (down.get()) {
                                failed.incrementAndGet();
                                throw new IOException("down");
                            }
                            done.incrementAndGet();
                        })
                        .start()) {
            for (int from = 0; from < jobs; from += CHUNK) {
                List<JobRequest<String>> some = new ArrayList<>();
                for (int i = from; i < Math.min(jobs, from + CHUNK); i++) {
                    some.add(CALL.job("x").queue("calls").resource("r" + i % resources));
                }
                worker.enqueueAll(some);
            }
            long began = foreground.begin();
            LockSupport.parkNanos(outage.toNanos());
            Foreground.Window during = foreground.end(began);
            values.put("failedRuns", (double) failed.get());
            values.put("controlRows", (double) target.number("select count(*) from reprise_control"));
            down.set(false);
            long back = foreground.begin();
            awaitShare(done, jobs, 0.9);
            values.put("seconds90", (System.nanoTime() - back) / 1e9);
            await(target, live("calls"), 0);
            long nanos = System.nanoTime() - back;
            Foreground.Window after = foreground.end(back);
            values.put(Figure.RATE, jobs * 1e9 / nanos);
            values.put("seconds", nanos / 1e9);
            values.put("foregroundP99Ms", during.p99Millis());
            values.put("foregroundAfterP99Ms", after.p99Millis());
        }
        return new Figure(name, values);
    }

    private static void awaitShare(AtomicLong done, int jobs, double share) {
        long end = System.nanoTime() + Trial.LIMIT.toNanos();
        while (done.get() < share * jobs && System.nanoTime() < end) {
            LockSupport.parkNanos(10_000_000);
        }
    }
}
