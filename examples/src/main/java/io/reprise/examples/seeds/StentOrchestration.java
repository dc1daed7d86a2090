// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.seeds;

import static io.reprise.examples.seeds.Told.say;

import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.retry.RetryPolicy;
import io.reprise.step.Step;
import io.reprise.step.StepFailedException;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.net.ConnectException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * For users of Stent's orchestrators: a durable function that calls activities, sleeps, waits for signals and runs parts in parallel.
 * An activity is a step with a policy of its own. What an activity returned is stored, so it is not called again after a
 * failure. Parts that run in parallel are jobs of their own, each with its own attempts.
 */
public final class StentOrchestration {

    private static final JobType<String> ORDER = JobType.of("order_workflow", String.class)
            .retry(RetryPolicy.preset("stent").noDeadline());

    /** {@code @Stent.durable(retry_policy=RetryPolicy(max_attempts=5, retry_for=(ConnectionError,)))}. */
    private static final Step<String> CHARGE =
            Step.of("charge", String.class).retry(RetryPolicy.preset("stent-selective"));

    /** One part of {@code await asyncio.gather(*[label(p) for p in parcels])}. */
    private static final JobType<String> LABEL =
            JobType.of("label", String.class).retry(RetryPolicy.preset("stent"));

    /** Signals that come one after another: each has a name of its own. */
    private static final List<String> STAGES = List.of("legal", "finance");

    /** The ends of three orders, and what the activities did, for the test. */
    record Results(Job approved, Job forgotten, Job refused, List<String> done) {}

    private StentOrchestration() {}

    public static void main(String[] args) {
        run();
    }

    private static void order(String order, JobContext job, List<String> done) {
        job.step("reserve", () -> done.add(order + " reserved"));
        try {
            String payment = job.step(CHARGE, () -> charge(order, job, done));
            job.sleep("cooling_off", Duration.ofHours(1));
            List<String> by = new ArrayList<>();
            for (String stage : STAGES) {
                by.add(job.await(stage, String.class, Duration.ofHours(6)));
            }
            List<String> labels = job.join("labels", LABEL.jobs(List.of(order + "-1", order + "-2")), String.class);
            job.step(
                    "ship",
                    () -> done.add(order + " shipped as " + labels + " after " + payment + ", approved by " + by));
            job.result(by.toString());
        } catch (StepFailedException failed) {
            job.step("release", () -> done.add(order + " released: " + failed.step()));
            job.result("given up");
        }
    }

    /** The first call meets a broken connection; a refused card is refused for good. */
    private static String charge(String order, JobContext job, List<String> done) throws ConnectException {
        if (job.attempt() == 1) {
            throw new ConnectException("the bank does not answer");
        }
        if (order.equals("refused")) {
            throw new IllegalArgumentException("the card was refused");
        }
        done.add(order + " charged");
        return "payment of " + order;
    }

    static Results run() {
        ManualClock clock = new ManualClock();
        List<String> done = new ArrayList<>();
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .handle(LABEL, (parcel, job) -> job.result("label " + parcel))
                        .handle(ORDER, (order, job) -> order(order, job, done)),
                clock)) {
            Reprise executor = worker.reprise();
            JobId approved = executor.enqueue(ORDER.job("approved"));
            JobId forgotten = executor.enqueue(ORDER.job("forgotten"));
            JobId refused = executor.enqueue(ORDER.job("refused"));
            say("A signal may come before anybody waits for it");
            executor.tell(approved, "finance", "bob");
            executor.tell(approved, "legal", "ada");
            worker.advance(Duration.ofHours(12));
            done.forEach(line -> say("  %s", line));
            return new Results(
                    executor.find(approved).orElseThrow(),
                    executor.find(forgotten).orElseThrow(),
                    executor.find(refused).orElseThrow(),
                    done);
        }
    }
}
