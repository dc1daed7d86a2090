// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.retry.RetryPolicy;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A job that waits for other jobs: an order ships when every parcel has its label. */
public final class JoinedLabels {
    private static final JobType<String> LABEL = JobType.of("label", String.class);
    private static final JobType<String> ORDER =
            JobType.of("order", String.class).retry(RetryPolicy.exponential().noDeadline());
    private static final List<String> effects = new ArrayList<>();

    private JoinedLabels() {}

    // snippet:join
    static void order(String order, JobContext job) {
        List<String> parcels = List.of(order + "-1", order + "-2", order + "-3");
        List<String> labels = job.join("labels", LABEL.jobs(parcels), String.class);
        job.step("ship", () -> effects.add("ship with " + labels));
    }
    // end

    public static void main(String[] args) {
        ManualClock clock = new ManualClock();
        RepriseBuilder builder = Reprise.builder()
                .store(new InMemoryJobStore(clock))
                .handle(LABEL, (parcel, job) -> job.result("label " + parcel))
                .handle(ORDER, JoinedLabels::order);
        try (InlineWorker worker = InlineWorker.start(builder, clock)) {
            worker.reprise().enqueue(ORDER.job("book"));
            worker.advance(Duration.ofMinutes(1));
            Example.check(
                    effects.equals(List.of("ship with [label book-1, label book-2, label book-3]")),
                    "the order had its labels in order, and shipped once");
        }
    }
}
