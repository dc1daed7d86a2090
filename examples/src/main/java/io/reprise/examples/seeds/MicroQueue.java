// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.seeds;

import static io.reprise.examples.seeds.Told.say;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSignal;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.ClaimRequest.Demand;
import io.reprise.store.JobStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * For users of the micro-queue on MongoDB, here in a SQLite file: an atomic pop, done, retry or hard failure, a backoff policy
 * per task, tasks taken back from workers that fell silent, and an end after more than ten attempts. There is no sweep to run.
 */
public final class MicroQueue {

    private static final JobType<String> TASK = JobType.of("task", String.class);

    /** {@code backoff_policy} of a task: what it leaves out is as in the policy of the queue. */
    private static final RetryPolicy IMPATIENT =
            RetryPolicy.unset().base(Duration.ofMillis(10)).jitter(Jitter.none());

    /** The jobs and their ends, for the test. */
    record Results(Told done, Told failed, Told retried, Told exhausted, Told stuck, boolean fenced, int dead) {}

    private MicroQueue() {}

    public static void main(String[] args) throws IOException {
        run(Files.createTempDirectory("micro-queue").resolve("tasks.db"));
    }

    static Results run(Path file) {
        JobId stuck;
        try (Reprise client = Reprise.builder().store(JdbcJobStore.sqlite(file)).start()) {
            stuck = client.enqueue(TASK.job("fine").retry(RetryPolicy.preset("mongo")));
        }
        Claim silent = claimAndFallSilent(file);
        say("A worker took task %s and was never heard of again", stuck);
        try (Reprise queue = Reprise.builder()
                .store(JdbcJobStore.sqlite(file))
                .retry(RetryPolicy.preset("mongo"))
                .lease(Duration.ofMinutes(10)) // the visibility timeout; renewed while a worker lives
                .handle(TASK, (input, job) -> {
                    switch (input) {
                        case "invalid" -> throw JobSignal.fail("payload is not valid");
                        case "twice" -> {
                            if (job.attempt() <= 2) {
                                throw new IOException("recoverable");
                            }
                        }
                        case "never" -> throw new IOException("recoverable, in theory");
                        default -> job.result("done");
                    }
                })
                .start()) {
            JobId done = queue.enqueue(TASK.job("fine"));
            JobId failed = queue.enqueue(TASK.job("invalid"));
            JobId retried = queue.enqueue(TASK.job("twice").retry(IMPATIENT));
            JobId exhausted = queue.enqueue(TASK.job("never").retry(IMPATIENT.cap(Duration.ofMillis(20))));
            for (JobId id : List.of(done, failed, retried, exhausted, stuck)) {
                queue.await(id, Duration.ofMinutes(1));
            }
            Results results = new Results(
                    Told.of(queue, done),
                    Told.of(queue, failed),
                    Told.of(queue, retried),
                    Told.of(queue, exhausted),
                    Told.of(queue, stuck),
                    queue.attempts(stuck).stream().anyMatch(run -> run.token() > silent.token()),
                    queue.find(JobQuery.deadLetters()).items().size());
            say("Dead letters (tasks_dlq): %d", results.dead);
            return results;
        }
    }

    /** The atomic pop, as a worker does it; this one has half a second to report, and does not. */
    private static Claim claimAndFallSilent(Path file) {
        try (JobStore store = JdbcJobStore.sqlite(file)) {
            return store.claim(new ClaimRequest(
                            "silent", Duration.ofMillis(500), 1, List.of(new Demand("default", 1)), 0.2, true))
                    .get(0);
        }
    }
}
