// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.operations;

import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.JobId;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** How many jobs run at once: per worker, per queue in a worker, and per queue in the whole fleet. */
public final class ConcurrencyLimits {

    private static final JobType<String> WORK = JobType.of("work", String.class);
    private static final Map<String, Integer> RUNNING = new ConcurrentHashMap<>();
    private static final Map<String, Integer> PEAK = new ConcurrentHashMap<>();

    private ConcurrencyLimits() {}

    private static Reprise worker(Path file) {
        return Reprise.builder()
                .store(JdbcJobStore.sqlite(file))
                .concurrency(4)
                .queues(Queue.of("images"), Queue.of("reports").concurrency(1), Queue.of("api"))
                .handle(WORK, ConcurrencyLimits::work)
                .start();
    }

    public static void main(String[] args) {
        Path file = Example.temporaryFile();
        try (Reprise one = worker(file);
                Reprise two = worker(file)) {
            one.as("ada", "the provider allows three calls at once").limit("api", 3);
            List<JobId> ids = new ArrayList<>();
            for (String queue : List.of("images", "reports", "api")) {
                for (int i = 0; i < 8; i++) {
                    ids.add(one.enqueue(WORK.job(queue).queue(queue)));
                }
            }
            ids.forEach(id -> two.await(id, Example.SOON));
        }
        Example.say("The most that ran at once: %s", PEAK);
        Example.check(PEAK.getOrDefault("all", 0) <= 8, "four per worker");
        Example.check(PEAK.getOrDefault("reports", 0) <= 2, "one report per worker");
        Example.check(PEAK.getOrDefault("api", 0) <= 3, "three api calls in the whole fleet");
    }

    private static void work(String queue, JobContext job) throws InterruptedException {
        PEAK.merge(queue, RUNNING.merge(queue, 1, Integer::sum), Math::max);
        PEAK.merge("all", RUNNING.merge("all", 1, Integer::sum), Math::max);
        Thread.sleep(50);
        RUNNING.merge(queue, -1, Integer::sum);
        RUNNING.merge("all", -1, Integer::sum);
    }
}
