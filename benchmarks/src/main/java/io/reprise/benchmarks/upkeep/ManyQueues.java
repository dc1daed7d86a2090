// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.upkeep;

import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.workload.Trial;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * U4: many queues. It drains a busy queue beside 10,000 queues with only delayed jobs (goal: 90 % of its rate alone).
 * It drains 10,000 busy queues (goal: 50 % of the rate of one).
 */
public final class ManyQueues extends UpkeepWorkload {

    private static final int JOBS = 100_000;
    private static final int QUEUES = 10_000;
    private static final int CHUNK = 10_000;
    private static final JobType<String> WORK = JobType.of("work", String.class);

    @Override
    public String name() {
        return "U4";
    }

    @Override
    public String title() {
        return "drain 100,000 jobs of one queue beside 10,000 delayed queues, and of 10,000 queues";
    }

    @Override
    List<Figure> measure(Trial trial, Target target) throws Exception {
        int jobs = trial.sizes().jobs(JOBS);
        int queues = trial.sizes().stored(QUEUES);
        fill(target, jobs, 1);
        double alone = drain(target, jobs);
        Target delayed = trial.install();
        delay(delayed, queues);
        fill(delayed, jobs, 1);
        double beside = drain(delayed, jobs);
        Target many = trial.install();
        fill(many, jobs, queues);
        double busy = drain(many, jobs);
        return List.of(
                Figure.of("U4", Figure.RATE, alone), part("U4-delayed", beside, alone), part("U4-busy", busy, alone));
    }

    private static Figure part(String name, double rate, double alone) {
        Map<String, Double> values = new LinkedHashMap<>();
        values.put(Figure.RATE, rate);
        values.put("ofOneQueue", rate / alone);
        return new Figure(name, values);
    }

    private static void delay(Target target, int queues) {
        List<JobRequest<String>> requests = new ArrayList<>();
        for (int i = 0; i < queues; i++) {
            requests.add(WORK.job("later").queue("later-" + i).after(Duration.ofHours(1)));
        }
        enqueue(target, requests);
    }

    private static void fill(Target target, int jobs, int queues) {
        List<JobRequest<String>> requests = new ArrayList<>();
        for (int i = 0; i < jobs; i++) {
            requests.add(WORK.job("now").queue("busy-" + i % queues));
        }
        enqueue(target, requests);
    }

    private static void enqueue(Target target, List<JobRequest<String>> requests) {
        try (Reprise client = reprise(target).start()) {
            for (int from = 0; from < requests.size(); from += CHUNK) {
                client.enqueueAll(requests.subList(from, Math.min(requests.size(), from + CHUNK)));
            }
        }
    }

    /** Returns the jobs per second from the first run to the last. */
    private static double drain(Target target, int jobs) throws Exception {
        target.tidy();
        AtomicLong first = new AtomicLong();
        CountDownLatch left = new CountDownLatch(jobs);
        Reprise worker = reprise(target)
                .handle(WORK, (payload, job) -> {
                    first.compareAndSet(0, System.nanoTime());
                    left.countDown();
                })
                .start();
        try (worker) {
            if (!left.await(Trial.LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException(left.getCount() + " jobs were not run");
            }
            return jobs * 1e9 / (System.nanoTime() - first.get());
        }
    }
}
