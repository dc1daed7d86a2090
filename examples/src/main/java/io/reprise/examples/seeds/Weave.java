// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.seeds;

import static io.reprise.examples.seeds.Told.say;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.reprise.JobType;
import io.reprise.ManualRetry;
import io.reprise.Reprise;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.micrometer.JobMetrics;
import io.reprise.retry.RetryPolicy;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * For users of weave-queue: 500 ms to 30 s with full jitter, {@code MaxRetries} 3 unless configured, priorities that retries keep,
 * and its metrics by name. A handler that throws an Error is what a panic is there.
 */
public final class Weave {

    private static final JobType<String> TASK = JobType.of("task", String.class);

    private static final RetryPolicy OWN = RetryPolicy.preset("weave-doubling")
            .base(Duration.ofMillis(100))
            .cap(Duration.ofSeconds(1))
            .maxRetries(4);

    /** The jobs and their ends, for the test. */
    record Results(
            Told defaults,
            Told panicked,
            Told financial,
            Told oneShot,
            Told own,
            Told aggressive,
            int kept,
            Told byHand,
            List<String> order,
            double retries,
            double exhausted) {}

    private Weave() {}

    public static void main(String[] args) {
        run();
    }

    static Results run() {
        ManualClock clock = new ManualClock();
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        List<String> order = new ArrayList<>();
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .concurrency(1)
                        .retry(RetryPolicy.preset("weave"))
                        .listener(new JobMetrics(registry))
                        .handle(TASK, (input, job) -> {
                            if (input.equals("panic")) {
                                throw new AssertionError("index out of range");
                            }
                            if (input.startsWith("bad")) {
                                throw new IOException("handler returned an error");
                            }
                            order.add(input + " #" + job.attempt());
                            if (input.startsWith("once") && job.attempt() == 1) {
                                throw new IOException("busy");
                            }
                        }),
                clock)) {
            Reprise queue = worker.reprise();

            say("Defaults, and the configurations for money and for one shot");
            JobId defaults = queue.enqueue(TASK.job("bad"));
            JobId panicked = queue.enqueue(TASK.job("panic"));
            JobId financial = queue.enqueue(TASK.job("bad").retry(RetryPolicy.preset("weave-conservative")));
            JobId oneShot = queue.enqueue(TASK.job("bad").retry(RetryPolicy.preset("one-shot")));
            say("A Config of your own, {BaseDelay: 100ms, MaxDelay: 1s, MaxRetries: 4}, and the aggressive one");
            JobId own = queue.enqueue(TASK.job("bad").retry(OWN));
            JobId aggressive = queue.enqueue(TASK.job("bad").retry(RetryPolicy.preset("weave-aggressive")));
            worker.advance(Duration.ofMinutes(10));
            Told[] told = List.of(defaults, panicked, financial, oneShot, own, aggressive).stream()
                    .map(id -> Told.of(queue, id))
                    .toArray(Told[]::new);

            say("Priorities: a retry keeps its own, and goes before what is less urgent");
            queue.enqueue(TASK.job("once high").priority(5));
            worker.runDue();
            queue.as("ada", "so that all of them wait").pause("default");
            queue.enqueue(TASK.job("low").priority(-5));
            queue.enqueue(TASK.job("normal"));
            worker.advance(Duration.ofSeconds(1));
            queue.as("ada", null).resume("default");
            worker.advance(Duration.ofMinutes(1));
            say("  ran in this order: %s", order);

            double retries = registry.get("retries").counters().stream()
                    .mapToDouble(each -> each.count())
                    .sum();
            double exhausted = registry.get("retry.exhausted").counters().stream()
                    .mapToDouble(each -> each.count())
                    .sum();
            say(
                    "retries_total %.0f, retry_exhausted_total %.0f, retry_latency_seconds in %d timers",
                    retries, exhausted, registry.get("retry.latency").timers().size());

            say("Exhausted jobs stay for a person, who grants one more attempt");
            int kept = queue.find(JobQuery.deadLetters()).items().size();
            queue.as("ada", "the bug is fixed").retry(oneShot, ManualRetry.NOW.granting(1));
            worker.advance(Duration.ofMinutes(1));
            return new Results(
                    told[0],
                    told[1],
                    told[2],
                    told[3],
                    told[4],
                    told[5],
                    kept,
                    Told.of(queue, oneShot),
                    order,
                    retries,
                    exhausted);
        }
    }
}
