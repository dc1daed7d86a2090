// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.seeds;

import static io.reprise.examples.seeds.Told.say;

import io.reprise.JobListener;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.Schedule;
import io.reprise.insight.Alert;
import io.reprise.insight.JobEvent;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.retry.RetryPolicy;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * For users of OmniQ: tasks with {@code max_retries}, 1 s doubling to 60 s with a quarter of jitter, custom rules, interval tasks.
 * First its loop on a SQLite file, {@link OmniqLoop}. Then, since hours must pass, a worker with handlers in virtual time.
 */
public final class Omniq {

    private static final JobType<String> PROCESS = JobType.of("process_data", String.class);
    private static final JobType<String> CHECK = JobType.of("check_system", String.class);

    /** OmniQ's override hooks as data: linear delays, and an error that is not worth a retry. */
    private static final RetryPolicy CUSTOM =
            RetryPolicy.preset("omniq-linear").maxRetries(4).neverRetryOnMessage("fatal");

    /** The jobs and their ends, for the test. */
    record Results(
            Told flaky,
            Told spent,
            Told once,
            Told linear,
            Told fatal,
            Told patient,
            boolean doneOnce,
            List<String> alerts,
            List<Job> checks) {}

    /** How often a task fails before it succeeds; for ever unless named here. */
    private static final Map<String, Integer> TROUBLES = Map.of("twice", 2, "twelve times", 12, "never", 0);

    /** Sends what a person should look at. */
    private record AlertMail(List<String> sent) implements JobListener {
        @Override
        public void onEvent(JobEvent event) {}

        @Override
        public void onAlert(Alert alert) {
            if (alert.isRaised()) {
                sent.add(alert.message());
            }
        }
    }

    private Omniq() {}

    public static void main(String[] args) throws IOException {
        say("OmniQ's own loop, on a SQLite file");
        OmniqLoop.run(Files.createTempDirectory("omniq").resolve("tasks.db"));
        say("");
        say("The same queue with handlers in place of a loop, and hours that pass in a moment");
        run();
    }

    static Results run() {
        ManualClock clock = new ManualClock();
        List<String> alerts = new ArrayList<>();
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .retry(RetryPolicy.preset("omniq"))
                        .listener(new AlertMail(alerts))
                        .handle(PROCESS, (trouble, job) -> {
                            if (job.attempt() > TROUBLES.getOrDefault(trouble, Integer.MAX_VALUE)) {
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
            say("max_retries=None: until it succeeds; and an idempotent task, which is enqueued twice and done once");
            JobId patient = queue.enqueue(
                    PROCESS.job("twelve times").retry(RetryPolicy.unset().unlimited()));
            JobId first = queue.enqueue(PROCESS.idempotent().job("never"));
            JobId second = queue.enqueue(PROCESS.idempotent().job("never"));
            say("Limits by kind of work: network, database and files");
            for (String kind : List.of("omniq-network", "omniq-database", "omniq-file")) {
                queue.enqueue(PROCESS.job("never").retry(RetryPolicy.preset(kind)));
            }
            say("The storage contract: get_task, and reschedule to a time");
            JobId later = queue.enqueue(PROCESS.job("never").after(Duration.ofDays(1)));
            queue.as("ada", "it can run now").reschedule(later, clock.instant().plusSeconds(60));
            worker.advance(Duration.ofHours(1));
            say("  task %s: %s", later, queue.find(later).orElseThrow().state());
            Told[] told = List.of(flaky, spent, once, linear, fatal, patient).stream()
                    .map(id -> Told.of(queue, id))
                    .toArray(Told[]::new);

            Job task = told[1].job();
            int most = task.maxRetries().orElseThrow();
            say(
                    "Monitoring: retried %d times of at most %d, %d remain",
                    task.retryCount(), most, most - task.retryCount());
            say(
                    "Troubleshooting, why task %s is not retried: %s",
                    spent, queue.explain(spent).reasons().get(0).text(clock.instant()));

            say("Alerts above ten retries of a type: %s", alerts);

            say(
                    "An interval task whose every check fails: each is retried, and the next one comes 5 min after its end");
            queue.schedule(Schedule.fixedDelay("monitor", Duration.ofMinutes(5), CHECK.job("system"))
                    .firstNow());
            worker.advance(Duration.ofMinutes(16));
            List<Job> checks = queue.find(JobQuery.all().schedule("monitor")).items();
            checks.forEach(job -> say("  check %s: %s after %d attempts", job.id(), job.state(), job.attempts()));
            return new Results(
                    told[0], told[1], told[2], told[3], told[4], told[5], first.equals(second), alerts, checks);
        }
    }
}
