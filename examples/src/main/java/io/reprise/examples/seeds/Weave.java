// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.seeds;

import static io.reprise.examples.seeds.Told.say;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.reprise.JobListener;
import io.reprise.JobType;
import io.reprise.ManualRetry;
import io.reprise.Reprise;
import io.reprise.insight.Alert;
import io.reprise.insight.AlertRules;
import io.reprise.insight.JobEvent;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.micrometer.JobMetrics;
import io.reprise.retry.RetryPolicy;
import io.reprise.settings.FleetSettings;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

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
            int effects,
            Told repeated,
            List<String> alerts,
            double retries,
            double exhausted) {}

    /** Retried jobs go before less urgent fresh ones, however many those are. */
    private static final FleetSettings BY_PRIORITY =
            FleetSettings.fromJson("{\"queues\":{\"default\":{\"order\":\"priority\"}}}");

    /** Keeps what a person should look at. */
    private record AlertMail(List<String> sent) implements JobListener {
        @Override
        public void onEvent(JobEvent event) {}

        @Override
        public void onAlert(Alert alert) {
            if (alert.isRaised()) {
                sent.add(alert.message());
            }
        }
    }

    private Weave() {}

    public static void main(String[] args) {
        run();
    }

    static Results run() {
        ManualClock clock = new ManualClock();
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        List<String> order = new ArrayList<>();
        List<String> alerts = new ArrayList<>();
        Set<JobId> done = new HashSet<>();
        AtomicInteger effects = new AtomicInteger();
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .concurrency(1)
                        .retry(RetryPolicy.preset("weave"))
                        .fleetSettings(BY_PRIORITY)
                        .listener(new JobMetrics(registry))
                        .listener(new AlertMail(alerts))
                        .alerts(AlertRules.DEFAULT.deadLetters(5).backoff(Duration.ofSeconds(1)))
                        .handle(TASK, (input, job) -> {
                            if (input.equals("panic")) {
                                throw new AssertionError("index out of range");
                            }
                            if (input.startsWith("bad")) {
                                throw new IOException("handler returned an error");
                            }
                            if (input.equals("idempotent")) {
                                // The key of the effect is the job: is the work done already?
                                if (done.add(job.id())) {
                                    effects.incrementAndGet();
                                    throw new IOException("the answer was lost after the work was done");
                                }
                                return;
                            }
                            if (input.equals("fine")) {
                                return;
                            }
                            order.add(input + " #" + job.attempt());
                            if (input.startsWith("once") && job.attempt() == 1) {
                                throw new IOException("busy");
                            }
                        }),
                clock)) {
            Reprise queue = worker.reprise();

            say(
                    "Example delays, before full jitter: %s",
                    Told.raw(RetryPolicy.preset("weave").maxRetries(7), 7));
            say("Defaults, and the configurations for money and for one shot");
            JobId defaults = queue.enqueue(TASK.job("bad"));
            JobId panicked = queue.enqueue(TASK.job("panic"));
            JobId financial = queue.enqueue(TASK.job("bad").retry(RetryPolicy.preset("weave-conservative")));
            JobId oneShot = queue.enqueue(TASK.job("bad").retry(RetryPolicy.preset("one-shot")));
            say("A Config of your own, {BaseDelay: 100ms, MaxDelay: 1s, MaxRetries: 4}, and the aggressive one");
            JobId own = queue.enqueue(TASK.job("bad").retry(OWN));
            JobId aggressive = queue.enqueue(TASK.job("bad").retry(RetryPolicy.preset("weave-aggressive")));
            queue.enqueueAll(Collections.nCopies(30, TASK.job("fine")));
            worker.runDue();
            say(
                    "  ready again, and not claimed before retry_at: %s",
                    queue.find(financial).orElseThrow());
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

            say("At least once: the handler asks whether the work is done; a timeout bounds each run");
            JobId repeated = queue.enqueue(TASK.job("idempotent").timeout(Duration.ofMinutes(1)));
            worker.advance(Duration.ofMinutes(1));
            Told again = Told.of(queue, repeated);
            say(
                    "  the work was done %d time in %d runs",
                    effects.get(), again.job().attempts());

            double retries = registry.get("retries").counters().stream()
                    .mapToDouble(each -> each.count())
                    .sum();
            double exhausted = registry.get("retry.exhausted").counters().stream()
                    .mapToDouble(each -> each.count())
                    .sum();
            say(
                    "retries_total %.0f, retry_exhausted_total %.0f, retry_latency_seconds in %d timers",
                    retries, exhausted, registry.get("retry.latency").timers().size());

            say("Alerts: more than a tenth retried, many at MaxRetries, long delays");
            alerts.forEach(alert -> say("  %s", alert));

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
                    effects.get(),
                    again,
                    alerts,
                    retries,
                    exhausted);
        }
    }
}
