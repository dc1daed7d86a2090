// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.seeds;

import static io.reprise.examples.seeds.Told.say;

import io.reprise.JobType;
import io.reprise.Replay;
import io.reprise.Reprise;
import io.reprise.failure.FailureDetails;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPlan;
import io.reprise.retry.RetryPolicy;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * For users of Stent: a policy per function, errors chosen by type, dead letters listed and replayed, calls that are repeated
 * without being done twice. The types of {@code retry_for} are stored with the job, so they hold after a restart.
 */
public final class Stent {

    private static final JobType<String> FLAKY =
            JobType.of("flaky_operation", String.class).retry(RetryPolicy.preset("stent"));
    private static final JobType<String> NETWORK =
            JobType.of("network_call", String.class).retry(RetryPolicy.preset("stent-aggressive"));
    private static final JobType<String> EXTERNAL =
            JobType.of("external_api_call", String.class).retry(RetryPolicy.preset("stent-selective"));

    /** Arguments of a function. */
    record Charge(String customer, int amount) {}

    /** {@code idempotent=True, max_attempts=5, retry_for=(NetworkError,)}: a repeated call finds the first. */
    private static final JobType<Charge> CHARGE = JobType.of("charge_customer", Charge.class)
            .retry(RetryPolicy.preset("stent-network"))
            .idempotent();

    /** A policy written out: {@code RetryPolicy(max_attempts=4, initial_delay=1.0, retry_for=[ConnectionError])}. */
    private static final RetryPolicy WRITTEN_OUT = RetryPolicy.exponential(Duration.ofSeconds(1))
            .factor(2)
            .cap(Duration.ofMinutes(1))
            .jitter(Jitter.proportional(0.1))
            .maxAttempts(4)
            .retryOn(ConnectException.class)
            .deadline(Duration.ofMinutes(1));

    private static final JobType<String> SYNC = JobType.of("sync", String.class).retry(WRITTEN_OUT);

    /** Match the policy to the failure: often and soon after a broken connection, seldom and late if throttled. */
    private static final JobType<String> LIMITED = JobType.of("rate_limited", String.class)
            .retry(RetryPolicy.preset("stent-aggressive")
                    .onStatus(429)
                    .fixed(Duration.ofMinutes(1))
                    .maxAttempts(2)
                    .policy());

    private static final JobType<String> BATCH =
            JobType.of("batch_job", String.class).retry(RetryPolicy.preset("stent-batch"));
    /** {@code max_attempts=1, idempotent=True}: never twice by itself, and a repeated call finds the first. */
    private static final JobType<Integer> REFUND = JobType.of("refund", Integer.class)
            .retry(RetryPolicy.preset("one-shot"))
            .idempotent();

    /** The jobs and their ends, for the test. */
    record Results(
            Told flaky,
            Told network,
            Told invalid,
            List<Job> dead,
            JobId replayedAs,
            Told replayed,
            int charged,
            Told refused,
            Told unknown,
            Told batch,
            Told refund,
            boolean refundedOnce,
            Told subclass,
            JobState afterFailure,
            Told limited,
            List<String> warnings) {}

    private Stent() {}

    public static void main(String[] args) {
        run();
    }

    static Results run() {
        ManualClock clock = new ManualClock();
        AtomicBoolean serviceIsBack = new AtomicBoolean();
        AtomicInteger charged = new AtomicInteger();
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .handle(FLAKY, (input, job) -> {
                            if (!serviceIsBack.get()) {
                                throw new IllegalStateException("the service is away");
                            }
                        })
                        .handle(NETWORK, (input, job) -> {
                            if (job.attempt() < 7) {
                                throw new ConnectException("refused");
                            }
                        })
                        .handle(EXTERNAL, (input, job) -> {
                            if (input.equals("refused")) {
                                throw new ConnectException("a subclass of IOException, which retry_for names");
                            }
                            throw new IllegalArgumentException("no such field: " + input);
                        })
                        .handle(CHARGE, (charge, job) -> charged.addAndGet(charge.amount()))
                        .handle(LIMITED, (input, job) -> {
                            throw new TooManyRequests();
                        })
                        .handle(SYNC, (what, job) -> {
                            throw what.equals("refused") ? new ConnectException(what) : new IOException(what);
                        })
                        .handle(BATCH, (what, job) -> {
                            throw new IllegalStateException("the batch is broken");
                        })
                        .handle(REFUND, (amount, job) -> {
                            throw new IllegalStateException("the bank is away");
                        }),
                clock)) {
            Reprise executor = worker.reprise();

            say("RetryPolicy(): delays %s", Told.raw(RetryPolicy.preset("stent"), 7));
            RetryPolicy tenSeconds = RetryPolicy.fixed(Duration.ofSeconds(10));
            say("Ten seconds with jitter=0.1: %s", Told.range(tenSeconds.jitter(Jitter.proportional(0.1))));
            say("Ten seconds with jitter=0.3: %s", Told.range(tenSeconds.jitter(Jitter.proportional(0.3))));

            say("Functions with policies of their own; after a failure the state is pending, with a time");
            JobId flaky = executor.enqueue(FLAKY.job("a"));
            JobId network = executor.enqueue(NETWORK.job("b"));
            JobId invalid = executor.enqueue(EXTERNAL.job("c"));
            JobId subclass = executor.enqueue(EXTERNAL.job("refused"));
            worker.runDue();
            Job waiting = executor.find(flaky).orElseThrow();
            say("  %s", waiting);
            worker.advance(Duration.ofHours(1));
            Told spent = Told.of(executor, flaky);
            Told recovered = Told.of(executor, network);
            Told failed = Told.of(executor, invalid);

            say("Dead letters");
            List<Job> dead = executor.find(JobQuery.deadLetters()).items();
            dead.forEach(letter ->
                    say("  task %s, reason %s, retries %d", letter.type(), letter.failReason(), letter.retryCount()));

            say("The service is back: replay, as a new job, in another queue, with counters at zero");
            serviceIsBack.set(true);
            JobId again = executor.as("ada", "the service is back")
                    .replay(flaky, Replay.FRESH.asNewJob().toQueue("retry"));
            worker.advance(Duration.ofMinutes(1));
            Told replayed = Told.of(executor, again);

            say("Charged once, however often it is asked for");
            JobId first = executor.enqueue(CHARGE.job(new Charge("ada", 30)));
            JobId second = executor.enqueue(CHARGE.job(new Charge("ada", 30)));
            worker.advance(Duration.ofMinutes(1));
            say("  job %s and job %s, %d charged", first, second, charged.get());

            say(
                    "A policy written out, for some errors only; the batch policy; one attempt and idempotent; rate limits");
            JobId refused = executor.enqueue(SYNC.job("refused"));
            JobId unknown = executor.enqueue(SYNC.job("disk full"));
            JobId limited = executor.enqueue(LIMITED.job("busy"));
            JobId batch = executor.enqueue(BATCH.job("all"));
            JobId refund = executor.enqueue(REFUND.job(30));
            boolean same = executor.enqueue(REFUND.job(30)).equals(refund);
            worker.advance(Duration.ofHours(6));
            List<String> warnings = RetryPlan.of(WRITTEN_OUT.deadline(Duration.ofSeconds(5)), 3).warnings().stream()
                    .map(RetryPlan.Warning::code)
                    .toList();
            say("Retries must fit the timeout; with a deadline of 5 s the policy warns: %s", warnings);
            return new Results(
                    spent,
                    recovered,
                    failed,
                    dead,
                    again,
                    replayed,
                    charged.get(),
                    Told.of(executor, refused),
                    Told.of(executor, unknown),
                    Told.of(executor, batch),
                    Told.of(executor, refund),
                    same,
                    Told.of(executor, subclass),
                    waiting.state(),
                    Told.of(executor, limited),
                    warnings);
        }
    }

    private static final class TooManyRequests extends RuntimeException implements FailureDetails {
        private static final long serialVersionUID = 1L;

        @Override
        public Integer httpStatus() {
            return 429;
        }
    }
}
