// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.control.BudgetSettings;
import io.reprise.control.ControlSettings;
import io.reprise.failure.FailureDetails;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.ResourceStatus;
import io.reprise.job.Job;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TroubledWorker;
import java.net.ConnectException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A worker with threads returns to full speed on the store under test when the trouble of its jobs is over. It does not
 * measure speed. Instead there are so many jobs that a worker which admits only a few at a time is not done in time.
 * The store's clock must move by itself, so this is not part of {@link JobStoreContract}.
 */
public interface RecoveryContract extends StoreFixture {

    /** Rounds of probes after which an outage ends. */
    int ROUNDS = 4;

    /** A call that takes longer than the store needs for its job. */
    Duration CALL = Duration.ofMillis(10);

    int SUCCESSES_PER_ARRIVAL = 50;

    /** A backlog whose calls take {@link #CALL} each: shares are seen as well as in a larger one, which takes minutes. */
    int SLOW_BACKLOG = 4_000;

    /** Calls while a breaker is open: probes, and calls that begin at the moment when it opens. */
    int MOST_CALLS = 4_000;

    /** The exception of a provider that is called too often. */
    final class TooManyRequests extends Exception implements FailureDetails {

        private static final long serialVersionUID = 1;

        TooManyRequests() {
            super("429 Too Many Requests");
        }

        @Override
        public Integer httpStatus() {
            return 429;
        }
    }

    /**
     * The number of jobs of a test. A store that runs fewer than a few thousand per second uses
     * fewer, but at least 4,000.
     */
    default int jobs() {
        return 20_000;
    }

    @Test
    default void a_backlog_is_worked_off_after_an_outage() {
        try (TroubledWorker worker = new TroubledWorker(store(), ControlSettings.DEFAULT, jobs())) {
            breakAfter(worker, jobs() / 4);
            worker.backlog(jobs(), TroubledWorker.PROVIDER);
            untilProbed(worker);
            worker.work();
            worker.untilDone();
            worker.requireEachSucceededOnce();
            assertThat(worker.spent())
                    .as("attempts that failures cost: none of a probe, none while parked")
                    .isLessThanOrEqualTo(worker.refused());
        }
    }

    @Test
    default void new_jobs_have_their_share_while_a_backlog_is_worked_off_after_an_outage() {
        int backlog = SLOW_BACKLOG;
        int fresh = 50;
        try (TroubledWorker worker = new TroubledWorker(store(), ControlSettings.DEFAULT, 2 * backlog)) {
            breakAfter(worker, backlog / 4);
            worker.backlog(backlog, TroubledWorker.PROVIDER);
            CompletableFuture<Void> arrivals = arrivals(worker);
            untilProbed(worker);
            // A job that is not parked yet is claimed before jobs that come later.
            worker.until(
                    "the backlog to be parked",
                    () -> worker.provider().parked() > worker.enqueued() - worker.succeeded() - backlog / 20);
            int before = worker.succeeded();
            int left = backlog - before;
            int first = worker.enqueued();
            // The fresh jobs are there before the first job of the backlog runs. Calls take longer than the store, so
            // its speed makes no difference.
            worker.workAfter(() -> worker.enqueue(fresh, TroubledWorker.PROVIDER), CALL);
            worker.until("the backlog to be gone", () -> worker.succeeded() >= backlog);
            arrivals.cancel(false);
            worker.untilDone();
            worker.requireEachSucceededOnce();
            assertThat(worker.medianWait(first, before + left))
                    .as("jobs that succeeded while half of the new ones waited, beside a backlog of %s", left)
                    .isLessThan(left / 2);
        }
    }

    @Test
    default void a_storm_of_retries_without_a_resource_passes() {
        // A small budget, so that nearly every retry waits for credit from the successes of others.
        storm(null, ControlSettings.DEFAULT.queueBudget(BudgetSettings.OF_RESOURCE));
    }

    @Test
    default void a_storm_of_retries_of_one_resource_passes() {
        storm(TroubledWorker.PROVIDER, ControlSettings.DEFAULT);
    }

    @Test
    default void a_backlog_is_worked_off_after_calls_were_throttled() {
        try (TroubledWorker worker = new TroubledWorker(store(), ControlSettings.DEFAULT, jobs())) {
            worker.failAfter(jobs() / 4, run -> new TooManyRequests());
            worker.backlog(jobs(), TroubledWorker.PROVIDER);
            worker.until("the calls to be limited", () -> worker.told(ControlEvent.Kind.BREAKER_RAMPING) > 0);
            int throttled = worker.refused();
            worker.until("calls that are throttled", () -> worker.refused() >= throttled + 20 || isSlow(worker));
            worker.work();
            worker.untilDone();
            worker.requireEachSucceededOnce();
        }
    }

    private static boolean isSlow(TroubledWorker worker) {
        ResourceStatus.RampStatus ramp = worker.provider().ramp();
        return ramp != null && ramp.rate() < 50;
    }

    /** Makes every job fail once with an error that no rule knows. */
    private void storm(@Nullable String resource, ControlSettings control) {
        try (TroubledWorker worker = new TroubledWorker(store(), control, jobs())) {
            worker.fail(run -> run == 1 ? new Exception("the first time") : null);
            worker.backlog(jobs(), resource);
            worker.untilDone();
            worker.requireEachSucceededOnce();
            assertThat(worker.calls()).as("calls: each job twice").isEqualTo(2 * jobs());
            assertThat(worker.spent()).as("attempts that failures cost").isEqualTo(jobs());
        }
    }

    private static void breakAfter(TroubledWorker worker, int successes) {
        worker.failAfter(successes, run -> new ConnectException("refused"));
    }

    /** Waits for some rounds of probes, none of which succeeds. */
    private static void untilProbed(TroubledWorker worker) {
        worker.until("probes", () -> worker.told(ControlEvent.Kind.BREAKER_HALF_OPENED) >= ROUNDS);
        assertThat(worker.refused() - worker.refusedBeforeOpen())
                .as("calls after the worker told that the breaker is open")
                .isLessThanOrEqualTo(MOST_CALLS);
    }

    /** Enqueues one job for every {@code SUCCESSES_PER_ARRIVAL} successes, until it is cancelled. */
    private static CompletableFuture<Void> arrivals(TroubledWorker worker) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    int next = SUCCESSES_PER_ARRIVAL;
                    while (!end.isDone()) {
                        if (worker.succeeded() >= next) {
                            worker.enqueue(1, TroubledWorker.PROVIDER);
                            next += SUCCESSES_PER_ARRIVAL;
                        } else {
                            LockSupport.parkNanos(CALL.toNanos());
                        }
                    }
                },
                "arrivals");
        thread.setDaemon(true);
        thread.start();
        return end;
    }

    /** Each job spends its retries; the interval goes on, and counts from the end of the last attempt. */
    @Test
    default void a_fixed_delay_counts_from_the_end_of_jobs_that_died() {
        Duration delay = Duration.ofSeconds(1);
        try (TroubledWorker worker = new TroubledWorker(store(), ControlSettings.DEFAULT, jobs())) {
            worker.fail(run -> new IllegalStateException("always"));
            worker.schedule(delay);
            await(() -> ended().size() >= 3);
        }
        List<Job> jobs = ended();
        for (int i = 1; i < jobs.size(); i++) {
            Instant before = Objects.requireNonNull(jobs.get(i - 1).times().finishedAt());
            assertThat(jobs.get(i).times().createdAt()).isAfterOrEqualTo(before.plus(delay));
        }
        assertThat(jobs).allMatch(job -> job.state() == JobState.FAILED && job.attempts() == 2);
    }

    /** Returns the dead letters in the order in which they were made. */
    private List<Job> ended() {
        return store().find(JobQuery.deadLetters().schedule("again")).items().stream()
                .sorted(Comparator.comparing(job -> job.times().createdAt()))
                .toList();
    }
}
