// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.fairness;

import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.benchmarks.measure.Processes;
import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.workload.Trial;
import io.reprise.fairness.FlowLimit;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * G5: limits of the fleet. Four worker processes run 1,000 groups under {@code running(5)}, and one of them is killed
 * every two seconds (goal: never more than 5 of a group hold a lease). Then four workers share a rate of 100 starts a second for a
 * minute (goal: 0.99 to 1.01 of it, and its burst).
 */
public final class LimitsUnderKills extends GroupWorkload {

    private static final int GROUPS = 1_000;
    private static final int EACH = 60;
    private static final int LARGE = 10;
    private static final int LIMIT = 5;
    private static final int FLEET = 4;
    private static final Duration KILLS = Duration.ofSeconds(40);
    private static final Duration EVERY = Duration.ofSeconds(2);
    private static final Duration SHORTEST = Duration.ofSeconds(5);
    private static final Duration RATED = Duration.ofMinutes(1);
    private static final int RATE = 100;
    private static final long JOB_NANOS = 50_000_000;
    private static final long LOOK_NANOS = 20_000_000;

    private static final String MOST_HELD = """
            select coalesce(max(n), 0)
              from (select count(*) as n
                      from reprise_held h
                      join reprise_job j on j.id = h.id and j.token < h.token and j.due_at is not null
                     group by j.job_group) x
            """;

    private static final String HOLDERS = "select count(distinct worker) from reprise_lease";

    @Override
    public String name() {
        return "G5";
    }

    @Override
    public String title() {
        return "5 running jobs per group under kills of workers, and a rate of 100/s by four workers";
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        return List.of(kills(trial), rate(trial));
    }

    private static Figure kills(Trial trial) throws Exception {
        Target target = trial.install();
        int groups = trial.sizes().stored(GROUPS);
        // Most groups have few jobs. Soon only the large ones are left, and these could run more than they may.
        fill(target, groups * EACH, i -> WORK.job("x").queue("work").group("group-" + (i < groups ? i : i % LARGE)));
        target.tidy();
        long most = 0;
        int killed = 0;
        List<Process> fleet = new ArrayList<>();
        try {
            for (int i = 0; i < FLEET; i++) {
                fleet.add(worker(target));
            }
            long patience = System.nanoTime() + Trial.LIMIT.toNanos();
            while (most == 0 && System.nanoTime() < patience) {
                LockSupport.parkNanos(LOOK_NANOS);
                most = target.number(MOST_HELD);
            }
            long began = System.nanoTime();
            long nextKill = began + EVERY.toNanos();
            long end = began + atLeast(trial.sizes().lasting(KILLS)).toNanos();
            while (System.nanoTime() < end) {
                most = Math.max(most, target.number(MOST_HELD));
                // A new process needs time to start. The fleet must not be dead while it is measured.
                if (System.nanoTime() > nextKill && target.number(HOLDERS) >= FLEET - 1) {
                    nextKill = System.nanoTime() + EVERY.toNanos();
                    fleet.remove(0).destroyForcibly().waitFor();
                    fleet.add(worker(target));
                    killed++;
                }
                LockSupport.parkNanos(LOOK_NANOS);
            }
        } finally {
            for (Process process : fleet) {
                process.destroyForcibly().waitFor();
            }
        }
        Map<String, Double> values = new LinkedHashMap<>();
        values.put("mostRunning", (double) most);
        values.put("killed", (double) killed);
        return new Figure("G5-running", values);
    }

    private static Duration atLeast(Duration length) {
        return length.compareTo(SHORTEST) < 0 ? SHORTEST : length;
    }

    private static Process worker(Target target) throws IOException {
        return Processes.start(
                List.of(), LimitsUnderKills.class, List.of(target.store().toString(), target.jdbcUrl()));
    }

    /** Arguments: store, URL. Runs until it is killed. */
    public static void main(String[] args) {
        Target target = new Target(StoreKind.of(args[0]), args[1]);
        try (Reprise worker = reprise(target)
                .concurrency(50)
                .lease(Duration.ofSeconds(2))
                .queues(Queue.of("work").perGroup(FlowLimit.running(LIMIT)))
                .handle(WORK, (payload, job) -> LockSupport.parkNanos(JOB_NANOS))
                .start()) {
            while (!Thread.currentThread().isInterrupted()) {
                worker.workers();
                LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());
            }
        }
    }

    private static Figure rate(Trial trial) throws Exception {
        Target target = trial.install();
        Duration length = atLeast(trial.sizes().lasting(RATED));
        fill(
                target,
                (int) (RATE * RATED.toSeconds()) + 1_000,
                i -> WORK.job("x").queue("work"));
        target.tidy();
        AtomicLong first = new AtomicLong();
        AtomicLong starts = new AtomicLong();
        FlowLimit limit = FlowLimit.rate(RATE, Duration.ofSeconds(1));
        List<Reprise> fleet = new ArrayList<>();
        try {
            for (int i = 0; i < FLEET; i++) {
                fleet.add(reprise(target)
                        .name("fleet-" + i)
                        .queues(Queue.of("work").rate(limit))
                        .handle(WORK, (payload, job) -> {
                            first.compareAndSet(0, System.nanoTime());
                            starts.incrementAndGet();
                        })
                        .start());
            }
            while (first.get() == 0) {
                LockSupport.parkNanos(LOOK_NANOS);
            }
            while (System.nanoTime() - first.get() < length.toNanos()) {
                LockSupport.parkNanos(first.get() + length.toNanos() - System.nanoTime());
            }
            double seconds = (System.nanoTime() - first.get()) / 1e9;
            Map<String, Double> values = new LinkedHashMap<>();
            values.put(Figure.RATE, (starts.get() - limit.burst()) / seconds);
            values.put("ofLimit", (starts.get() - limit.burst()) / seconds / RATE);
            return new Figure("G5-rate", values);
        } finally {
            fleet.forEach(Reprise::close);
        }
    }
}
