// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.seeds;

import static io.reprise.examples.seeds.Told.say;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.Schedule;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.retry.RetryPolicy;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * For users of OmniQ: tasks with {@code max_retries}, 1 s doubling to 60 s with a quarter of jitter, custom rules, interval tasks.
 * In virtual time, since hours must pass; with {@code JdbcJobStore.sqlite(Path.of("tasks.db"))} as the store it is the same.
 */
public final class Omniq {

    private static final JobType<String> PROCESS = JobType.of("process_data", String.class);
    private static final JobType<String> CHECK = JobType.of("check_system", String.class);

    /** OmniQ's override hooks as data: linear delays, and an error that is not worth a retry. */
    private static final RetryPolicy CUSTOM =
            RetryPolicy.preset("omniq-linear").maxRetries(4).neverRetryOnMessage("fatal");

    /** The jobs and their ends, for the test. */
    record Results(Told flaky, Told spent, Told once, Told linear, Told fatal, List<Job> checks) {}

    private Omniq() {}

    public static void main(String[] args) {
        run();
    }

    static Results run() {
        ManualClock clock = new ManualClock();
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .retry(RetryPolicy.preset("omniq"))
                        .handle(PROCESS, (trouble, job) -> {
                            if (trouble.equals("twice") && job.attempt() > 2) {
                                job.result("processed");
                            } else {
                                throw new IOException(trouble.equals("fatal") ? "a fatal error" : "connection timeout");
                            }
                        })
                        .handle(CHECK, (system, job) -> {
                            throw new IOException(system + " does not answer");
                        }),
                clock)) {
            Reprise queue = worker.reprise();

            say("Enqueue with max_retries: 3 is the default, 5 for this one, 0 for that one");
            JobId flaky = queue.enqueue(PROCESS.job("twice").timeout(Duration.ofMinutes(1)));
            JobId spent = queue.enqueue(
                    PROCESS.job("always").retry(RetryPolicy.unset().maxRetries(5)));
            JobId once = queue.enqueue(
                    PROCESS.job("always").retry(RetryPolicy.unset().maxRetries(0)));
            say("Custom retry: linear delays, and never after a fatal error");
            JobId linear = queue.enqueue(PROCESS.job("always").retry(CUSTOM));
            JobId fatal = queue.enqueue(PROCESS.job("fatal").retry(CUSTOM));
            worker.advance(Duration.ofHours(1));
            Told[] told = List.of(flaky, spent, once, linear, fatal).stream()
                    .map(id -> Told.of(queue, id))
                    .toArray(Told[]::new);

            Job task = told[1].job();
            say(
                    "Monitoring: retried %d times of at most %d",
                    task.retryCount(), task.maxRetries().orElseThrow());

            say("An interval task whose every check fails: each is retried, and the next one comes all the same");
            queue.schedule(Schedule.every("monitor", Duration.ofMinutes(5), CHECK.job("system")));
            worker.advance(Duration.ofMinutes(16));
            List<Job> checks = queue.find(JobQuery.all().schedule("monitor")).items();
            checks.forEach(job -> say("  check %s: %s after %d attempts", job.id(), job.state(), job.attempts()));
            return new Results(told[0], told[1], told[2], told[3], told[4], checks);
        }
    }
}
