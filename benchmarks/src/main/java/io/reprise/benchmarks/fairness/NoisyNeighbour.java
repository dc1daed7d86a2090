// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.fairness;

import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.workload.RecoveryRun;
import io.reprise.benchmarks.workload.Trial;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * G1: group A floods a queue with 1,000,000 jobs. Then group B sends one job, again and again. Measured is how long B's
 * job waits (goal: at most 1 s, whatever the backlog), and beside it the wait of the same job without groups after 10 s.
 */
public final class NoisyNeighbour extends GroupWorkload {

    private static final int FLOOD = 1_000_000;
    private static final int SENT = 20;
    private static final int PICTURED = 20_000;
    private static final long PACE_NANOS = 200_000_000;
    private static final long JOB_NANOS = 2_000_000;
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    @Override
    public String name() {
        return "G1";
    }

    @Override
    public String title() {
        return "one job of a quiet group behind 1,000,000 jobs of a noisy one";
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        String picture = System.getProperty(RecoveryRun.PICTURE);
        if (picture != null) {
            NeighbourPicture.write(
                    Path.of(picture), PICTURED, sent(trial.install(), "a", "b"), sent(trial.install(), null, null));
        }
        int flood = trial.sizes().stored(FLOOD);
        Target fair = trial.install();
        fill(fair, flood, i -> WORK.job("noise").group("a"));
        fair.tidy();
        Figure with = waits(fair, "G1", "b");
        Target unfair = trial.install();
        fill(unfair, flood, i -> WORK.job("noise"));
        unfair.tidy();
        return List.of(with, waits(unfair, "G1-without", null));
    }

    /** Sends jobs at a steady pace until the flood is over, and returns how long each waited. */
    @SuppressWarnings("try") // The worker works until it is closed.
    private static List<NeighbourPicture.Sent> sent(Target target, @Nullable String noisy, @Nullable String quiet)
            throws Exception {
        fill(
                target,
                PICTURED,
                i -> noisy == null ? WORK.job("noise") : WORK.job("noise").group(noisy));
        target.tidy();
        Map<Integer, Long> sent = new TreeMap<>();
        Map<Integer, Long> started = new ConcurrentHashMap<>();
        AtomicInteger noise = new AtomicInteger();
        try (Reprise client = reprise(target).start();
                Reprise worker = reprise(target)
                        .queues(Queue.of("default"))
                        .handle(WORK, (payload, job) -> {
                            if (payload.equals("noise")) {
                                LockSupport.parkNanos(JOB_NANOS);
                                noise.incrementAndGet();
                            } else {
                                started.put(Integer.parseInt(payload), System.nanoTime());
                            }
                        })
                        .start()) {
            while (noise.get() < PICTURED || started.size() < sent.size()) {
                if (noise.get() < PICTURED) {
                    String payload = Integer.toString(sent.size());
                    sent.put(sent.size(), System.nanoTime());
                    client.enqueue(
                            quiet == null
                                    ? WORK.job(payload)
                                    : WORK.job(payload).group(quiet));
                }
                long next = System.nanoTime() + PACE_NANOS;
                while (System.nanoTime() < next) {
                    LockSupport.parkNanos(next - System.nanoTime());
                }
            }
        }
        List<NeighbourPicture.Sent> jobs = new ArrayList<>();
        long first = sent.getOrDefault(0, 0L);
        sent.forEach((number, at) ->
                jobs.add(new NeighbourPicture.Sent((at - first) / 1e9, (started.getOrDefault(number, at) - at) / 1e9)));
        return jobs;
    }

    @SuppressWarnings("try") // The worker works until it is closed.
    private static Figure waits(Target target, String name, @Nullable String group) throws Exception {
        Map<String, CompletableFuture<Long>> starts = new ConcurrentHashMap<>();
        List<Double> waits = new ArrayList<>();
        try (Reprise client = reprise(target).start();
                Reprise worker = reprise(target)
                        .queues(Queue.of("default"))
                        .handle(WORK, (payload, job) -> {
                            CompletableFuture<Long> start = starts.get(payload);
                            if (start == null) {
                                LockSupport.parkNanos(JOB_NANOS);
                            } else {
                                start.complete(System.nanoTime());
                            }
                        })
                        .start()) {
            LockSupport.parkNanos(JOB_NANOS);
            for (int i = 0; i < (group == null ? 1 : SENT); i++) {
                String payload = "quiet-" + i;
                CompletableFuture<Long> start = new CompletableFuture<>();
                starts.put(payload, start);
                long sent = System.nanoTime();
                client.enqueue(
                        group == null ? WORK.job(payload) : WORK.job(payload).group(group));
                long at = group == null
                        ? start.completeOnTimeout(
                                        System.nanoTime() + PATIENCE.toNanos(), PATIENCE.toSeconds(), TimeUnit.SECONDS)
                                .get()
                        : start.get(Trial.LIMIT.toSeconds(), TimeUnit.SECONDS);
                waits.add((at - sent) / 1e6);
            }
        }
        Collections.sort(waits);
        Map<String, Double> values = new LinkedHashMap<>();
        values.put("longestMs", waits.get(waits.size() - 1));
        values.put("medianMs", waits.get(waits.size() / 2));
        return new Figure(name, values);
    }
}
