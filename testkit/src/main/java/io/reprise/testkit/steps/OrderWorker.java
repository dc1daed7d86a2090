// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.steps;

import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.PayloadCodec;
import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.job.JobId;
import io.reprise.retry.RetryPolicy;
import io.reprise.step.Step;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A worker in a process of its own that runs jobs of ten steps and ends, as {@code kill -9} would end it, before a chosen
 * statement of a run. Even steps have their effect in the transaction of the step, odd ones outside of it.
 * {@link KillEverywhere} starts it.
 */
public abstract class OrderWorker {

    /** The number of steps of a job. */
    public static final int STEPS = 10;

    static final JobType<String> ORDER = JobType.of("order", String.class)
            .retry(RetryPolicy.fixed(Duration.ofMillis(50)).maxAttempts(10));

    static final PayloadCodec CODEC = new PayloadCodec() {
        @Override
        public String encode(Object value) {
            return value.toString();
        }

        @Override
        public <T> T decode(String json, Class<T> type) {
            return type.cast(json);
        }
    };

    static final String STATEMENTS = "statements of the run: ";
    private static final int KILLED = 137;

    private static final AtomicInteger seen = new AtomicInteger();
    private static volatile boolean armed;
    private static volatile int last = Integer.MAX_VALUE;

    /** Called before each statement. Those of the handler's thread and of the committer are the run's. */
    protected static void beforeStatement() {
        String thread = Thread.currentThread().getName();
        boolean ofRun = armed && (thread.contains("reprise-job") || thread.contains("committer"));
        if (ofRun && seen.incrementAndGet() == last) {
            Runtime.getRuntime().halt(KILLED);
        }
    }

    /** Opens a store that calls {@link #beforeStatement}. */
    protected abstract JobStore open(String url);

    /** Commits an effect by itself. */
    protected abstract void outside(String url, JobId job, String step) throws Exception;

    /** Does a step whose effect commits with it, and returns the result of the step. */
    protected abstract String inside(String url, JobContext job, String step) throws Exception;

    /**
     * Works until the process ends.
     *
     * @param args URL; queue, or nothing for all queues; number of the statement, 0 for none; the job after whose end the
     *     process ends, if any
     */
    protected final void work(String[] args) throws InterruptedException {
        String url = args[0];
        int at = Integer.parseInt(args[2]);
        if (at > 0) {
            last = at;
        }
        RepriseBuilder builder = Reprise.builder()
                .store(open(url))
                .codec(CODEC)
                .concurrency(args[1].isEmpty() ? 8 : 1)
                .lease(Duration.ofSeconds(1))
                .poll(Duration.ofMillis(50))
                .handle(ORDER, (payload, job) -> order(url, job));
        if (!args[1].isEmpty()) {
            builder.queues(Queue.of(args[1]));
        }
        Reprise reprise = builder.start();
        if (args.length > 3) {
            reprise.await(JobId.parse(args[3]), Duration.ofMinutes(5));
            System.out.println(STATEMENTS + seen.get());
            // An orderly end: the virtual machine writes down the classes that the next one needs.
            System.exit(0);
        }
        new CountDownLatch(1).await();
    }

    private void order(String url, JobContext job) throws Exception {
        armed = true;
        StringBuilder result = new StringBuilder();
        for (int i = 0; i < STEPS; i++) {
            String name = "s" + i;
            if (i == STEPS / 2) {
                job.sleep("pause", Duration.ZERO);
            }
            if (i % 2 == 1) {
                result.append(job.step(Step.of(name, String.class), () -> {
                    outside(url, job.id(), name);
                    return name.substring(1);
                }));
            } else {
                result.append(inside(url, job, name));
            }
        }
        job.result(result.toString());
    }
}
