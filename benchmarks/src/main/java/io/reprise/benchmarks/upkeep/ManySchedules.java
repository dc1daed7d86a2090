// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.upkeep;

import io.reprise.JobType;
import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.Schedule;
import io.reprise.benchmarks.measure.RunChecks;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.workload.Trial;
import io.reprise.insight.JobEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** U3: many schedules are due in the same second. Goal: all enqueued within 2 s, none merged. */
public final class ManySchedules extends UpkeepWorkload {

    private static final int SCHEDULES = 5_000;
    private static final int ROUNDS = 2;
    private static final JobType<String> TICK = JobType.of("tick", String.class);

    @Override
    public String name() {
        return "U3";
    }

    @Override
    public String title() {
        return "5,000 schedules due in one second: seconds until all are enqueued";
    }

    @Override
    List<Figure> measure(Trial trial, Target target) throws Exception {
        int schedules = trial.sizes().jobs(SCHEDULES);
        AtomicInteger fired = new AtomicInteger();
        AtomicLong last = new AtomicLong();
        double slowest = 0;
        try (Reprise reprise = reprise(target)
                .queues(Queue.of("elsewhere"))
                .handle(TICK, (payload, job) -> {})
                .listener(event -> {
                    if (event.kind() == JobEvent.Kind.ENQUEUED) {
                        last.set(System.nanoTime());
                        fired.incrementAndGet();
                    }
                })
                .start()) {
            for (int i = 0; i < schedules; i++) {
                reprise.schedule(Schedule.every("s" + i, Duration.ofHours(1), TICK.job("x"))
                        .allowOverlap());
            }
            for (int round = 1; round <= ROUNDS; round++) {
                long due = Instant.now().plusSeconds(3).toEpochMilli();
                target.execute("update reprise_schedule set next_at = " + due * 1_000);
                long began = System.nanoTime() + (due - Instant.now().toEpochMilli()) * 1_000_000;
                long end = System.nanoTime() + Trial.LIMIT.toNanos();
                while (fired.get() < round * schedules && System.nanoTime() < end) {
                    LockSupport.parkNanos(1_000_000);
                }
                RunChecks.equal("firings", (long) round * schedules, fired.get());
                slowest = Math.max(slowest, (last.get() - began) / 1e9);
            }
        }
        Map<String, Double> values = new LinkedHashMap<>();
        values.put("seconds", slowest);
        values.put(Figure.RATE, schedules / slowest);
        values.put("merged", (double) ROUNDS * schedules - fired.get());
        return List.of(new Figure(name(), values));
    }
}
