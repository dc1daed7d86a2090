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
 * For users of Stent's orchestrators: a durable function that calls activities, sleeps and waits for a signal. An activity is a
 * step with a policy of its own. What an activity returned is stored, so it is not called again after a failure.
 */
public final class StentOrchestration {

    private static final JobType<String> ORDER = JobType.of("order_workflow", String.class)
            .retry(RetryPolicy.preset("stent").noDeadline());

    /** {@code @Stent.durable(retry_policy=RetryPolicy(max_attempts=5, retry_for=(ConnectionError,)))}. */
    private static final Step<String> CHARGE =
            Step.of("charge", String.class).retry(RetryPolicy.preset("stent-selective"));

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
            String by = job.await("approval", String.class, Duration.ofHours(6));
            job.step("ship", () -> done.add(order + " shipped after " + payment + ", approved by " + by));
            job.result(by);
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
                        .handle(ORDER, (order, job) -> order(order, job, done)),
                clock)) {
            Reprise executor = worker.reprise();
            JobId approved = executor.enqueue(ORDER.job("approved"));
            JobId forgotten = executor.enqueue(ORDER.job("forgotten"));
            JobId refused = executor.enqueue(ORDER.job("refused"));
            say("A signal may come before anybody waits for it");
            executor.tell(approved, "approval", "ada");
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
