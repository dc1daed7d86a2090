// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Several queues served by weight: more often the heavier, but none starves. From a seed, so each run is the same. */
public final class QueueWeights {

    private static final JobType<String> WORK = JobType.of("work", String.class);

    private QueueWeights() {}

    public static void main(String[] args) {
        ManualClock clock = new ManualClock();
        List<String> order = new ArrayList<>();
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .concurrency(1)
                        .queues(Queue.of("mail").weight(3), Queue.of("reports").weight(1))
                        .handle(WORK, (queue, job) -> {
                            clock.advance(Duration.ofSeconds(1)); // as long as this job takes
                            order.add(queue);
                        }),
                clock)) {
            List<JobRequest<String>> jobs = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                jobs.add(WORK.job("reports").queue("reports"));
                jobs.add(WORK.job("mail").queue("mail"));
            }
            worker.reprise().enqueueAll(jobs);
            worker.advance(Duration.ofMinutes(10));
        }
        long mail = order.subList(0, 200).stream().filter("mail"::equals).count();
        Example.say("Of the first 200 jobs, %d were mail and %d reports", mail, 200 - mail);
        Example.check(mail > 130 && mail < 170, "a weight of 3 is served about three times as often as one of 1");
        Example.check(order.size() == 400, "in the end all of them ran");
    }
}
