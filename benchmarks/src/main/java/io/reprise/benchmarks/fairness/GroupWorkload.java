// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.fairness;

import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.workload.RepriseWorkload;
import io.reprise.benchmarks.workload.Trial;
import io.reprise.jackson.JacksonCodec;
import io.reprise.jdbc.JdbcJobStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;

/** A workload whose jobs have groups. */
abstract class GroupWorkload implements RepriseWorkload {

    static final JobType<String> WORK = JobType.of("work", String.class);

    private static final int CHUNK = 10_000;

    @Override
    public final boolean alone() {
        return true;
    }

    static RepriseBuilder reprise(Target target) {
        return Reprise.builder().store(JdbcJobStore.open(target.jdbcUrl())).codec(new JacksonCodec());
    }

    /** Enqueues so many jobs, each as its number says. */
    static void fill(Target target, int jobs, IntFunction<JobRequest<String>> job) {
        try (Reprise client = reprise(target).start()) {
            List<JobRequest<String>> some = new ArrayList<>();
            for (int i = 0; i < jobs; i++) {
                some.add(job.apply(i));
                if (some.size() == CHUNK || i == jobs - 1) {
                    client.enqueueAll(some);
                    some.clear();
                }
            }
        }
    }

    /** Sees the payload of every job that starts. */
    interface Started {
        void job(String payload);
    }

    /** Returns the jobs of a queue per second, from the first run to the last. */
    static double drain(Target target, String queue, int jobs, Started started) throws Exception {
        target.tidy();
        AtomicLong first = new AtomicLong();
        CountDownLatch left = new CountDownLatch(jobs);
        Reprise worker = reprise(target)
                .queues(Queue.of(queue))
                .handle(WORK, (payload, job) -> {
                    first.compareAndSet(0, System.nanoTime());
                    started.job(payload);
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
