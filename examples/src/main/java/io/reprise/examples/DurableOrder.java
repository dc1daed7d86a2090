// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.job.JobId;
import io.reprise.retry.RetryPolicy;
import io.reprise.step.Step;
import io.reprise.step.StepFailedException;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** An order in steps: each is done once, the handler goes on where it stopped, sleeps a day and waits for a person. */
public final class DurableOrder {
    // snippet:type
    static final JobType<String> ORDER =
            JobType.of("order", String.class).retry(RetryPolicy.exponential().noDeadline());
    // end
    private static final List<String> effects = new ArrayList<>();

    private DurableOrder() {}
    // snippet:step
    static final Step<String> CHARGE = Step.of("charge", String.class)
            .retry(RetryPolicy.exponential(Duration.ofSeconds(2)).maxAttempts(8))
            .resource("bank")
            .timeout(Duration.ofSeconds(30));
    // end
    // snippet:handler
    static void order(String order, JobContext job) {
        job.step("reserve", () -> effects.add("reserve " + order));
        String payment = job.step(CHARGE, () -> charge(order, job.stepKey()));
        job.sleep("cooling-off", Duration.ofDays(1));
        try {
            String approver = job.await("approval", String.class, Duration.ofDays(7));
            job.step("ship", () -> effects.add("ship " + order + " for " + approver));
        } catch (StepFailedException nobodyApproved) {
            job.step("refund", () -> effects.add("refund " + payment));
        }
    }
    // end
    private static String charge(String order, String key) throws IOException {
        if (effects.add("call the bank") && effects.size() == 2) {
            throw new IOException("the bank is down");
        }
        return "payment " + key + " of " + order;
    }

    public static void main(String[] args) {
        ManualClock clock = new ManualClock();
        RepriseBuilder builder = Reprise.builder().store(new InMemoryJobStore(clock));
        try (InlineWorker worker = InlineWorker.start(builder.handle(ORDER, DurableOrder::order), clock)) {
            JobId book = worker.reprise().enqueue(ORDER.job("book"));
            JobId lamp = worker.reprise().enqueue(ORDER.job("lamp"));
            worker.advance(Duration.ofDays(2));
            worker.reprise().tell(book, "approval", "ada");
            worker.advance(Duration.ofDays(8));
            Example.check(effects.stream().filter("reserve book"::equals).count() == 1, "each step was done once");
            Example.check(effects.contains("ship book for ada"), "ada approved the book, and it was shipped");
            Example.check(
                    effects.contains("refund payment " + lamp + "/charge of lamp"), "nobody approved the lamp in time");
        }
    }
}
