// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.failure.FailureClass;
import io.reprise.failure.NonRetryable;
import io.reprise.insight.JobEvent;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobSignal;
import io.reprise.job.JobState;
import io.reprise.job.NotFinishedException;
import io.reprise.job.WaitReason;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.testing.InlineWorker;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RunningJobsTest {

    private static final class Hopeless extends Exception implements NonRetryable {
        private static final long serialVersionUID = 1L;
    }

    private static JobHandler<String> failing(int times) {
        AtomicInteger runs = new AtomicInteger();
        return (payload, job) -> {
            if (runs.getAndIncrement() < times) {
                throw new IOException("not yet");
            }
        };
    }

    @Test
    void a_job_runs_once_and_succeeds() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> job.result("done " + payload))) {
            JobId id = engine.reprise.enqueue(WORK.job("a"));
            engine.worker.runDue();
            assertThat(engine.ran).containsExactly("a");
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(engine.job(id).status().result()).isEqualTo("done a");
            assertThat(engine.kinds())
                    .containsExactly(JobEvent.Kind.ENQUEUED, JobEvent.Kind.STARTED, JobEvent.Kind.SUCCEEDED);
        }
    }

    @Test
    void a_failed_job_comes_back_exactly_when_its_policy_says() {
        try (EngineFixture engine = new EngineFixture(failing(2))) {
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(EXACT));
            engine.worker.runDue();
            Job waiting = engine.job(id);
            assertThat(waiting.state()).isEqualTo(JobState.PENDING);
            assertThat(waiting.status().waitReason()).isEqualTo(WaitReason.RETRY);
            assertThat(engine.sinceStart(waiting.nextRetryAt())).isEqualTo(Duration.ofSeconds(1));
            engine.worker.advance(Duration.ofMillis(999));
            assertThat(engine.ran).hasSize(1);
            engine.worker.advance(Duration.ofMillis(2));
            assertThat(engine.ran).hasSize(2);
            engine.worker.advance(Duration.ofSeconds(2));
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(engine.job(id).attempts()).isEqualTo(3);
        }
    }

    /** Seeds §9, check 2 (OQ-B2): an exhausted job is FAILED with reason, error and history. */
    @Test
    void check_02_an_exhausted_job_is_failed_with_reason_error_and_history() {
        try (EngineFixture engine = new EngineFixture(failing(99))) {
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(EXACT));
            engine.worker.advance(Duration.ofMinutes(1));
            Job dead = engine.job(id);
            assertThat(dead.state()).isEqualTo(JobState.FAILED);
            assertThat(dead.failReason()).isEqualTo(FailReason.EXHAUSTED);
            assertThat(dead.times().dueAt()).isNull();
            assertThat(dead.attempts()).isEqualTo(4);
            assertThat(dead.retryCount()).isEqualTo(3);
            assertThat(dead.maxRetries()).hasValue(3);
            List<Attempt> attempts = engine.reprise.attempts(id);
            assertThat(attempts).extracting(Attempt::number).containsExactly(1, 2, 3, 4);
            assertThat(attempts)
                    .allSatisfy(
                            attempt -> assertThat(attempt.failure().message()).isEqualTo("not yet"));
            assertThat(attempts.get(1).decision())
                    .isInstanceOfSatisfying(
                            Decision.Retry.class,
                            retry -> assertThat(retry.delay()).isEqualTo(Duration.ofSeconds(2)));
        }
    }

    /** CD-14, CD-15: after the first failure it says "retry 1 of 3", also while that retry runs. */
    @Test
    void the_retry_that_is_waited_for_counts_as_one() {
        List<Integer> whileRunning = new ArrayList<>();
        JobHandler<String> failing = failing(2);
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            whileRunning.add(job.job().retryCount());
            failing.handle(payload, job);
        })) {
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(EXACT));
            assertThat(engine.job(id).retryCount()).isZero();
            engine.worker.runDue();
            assertThat(engine.job(id).retryCount()).isEqualTo(1);
            assertThat(engine.job(id).maxRetries()).hasValue(3);
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(whileRunning).containsExactly(0, 1, 2);
            assertThat(engine.job(id).retryCount()).isEqualTo(2);
        }
    }

    /** Seeds §9, check 7 (CD-B1): what is announced is what is stored. */
    @Test
    void check_07_the_stored_due_time_is_the_announced_one() {
        try (EngineFixture engine = new EngineFixture(failing(1))) {
            JobId id = engine.reprise.enqueue(WORK.job("a"));
            engine.worker.runDue();
            JobEvent event = engine.events.get(engine.events.size() - 1);
            assertThat(event.kind()).isEqualTo(JobEvent.Kind.RETRY_SCHEDULED);
            assertThat(event.dueAt()).isEqualTo(engine.job(id).times().dueAt());
            Decision.Retry retry =
                    (Decision.Retry) engine.reprise.attempts(id).get(0).decision();
            assertThat(event.dueAt()).isEqualTo(event.at().plus(retry.delay()));
        }
    }

    @Test
    void a_zero_retry_policy_runs_once_and_an_unset_one_runs_by_default() {
        try (EngineFixture engine = new EngineFixture(failing(99))) {
            JobId once = engine.reprise.enqueue(
                    WORK.job("a").retry(RetryPolicy.unset().maxRetries(0)));
            JobId byDefault = engine.reprise.enqueue(WORK.job("b"));
            engine.worker.runDue();
            assertThat(engine.job(once).failReason()).isEqualTo(FailReason.EXHAUSTED);
            assertThat(engine.job(byDefault).state()).isEqualTo(JobState.PENDING);
            assertThat(engine.job(byDefault).maxAttempts()).hasValue(20);
        }
    }

    @Test
    void a_snooze_spends_no_attempt_and_keeps_growing_the_token() {
        AtomicInteger runs = new AtomicInteger();
        List<Long> tokens = new java.util.ArrayList<>();
        JobHandler<String> handler = (payload, job) -> {
            tokens.add(job.token());
            assertThat(job.attempt()).isEqualTo(1);
            if (runs.getAndIncrement() < 3) {
                throw JobSignal.snooze(Duration.ofMinutes(1));
            }
        };
        try (EngineFixture engine = new EngineFixture(handler)) {
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(RetryPolicy.none()));
            engine.worker.advance(Duration.ofMinutes(5));
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(engine.job(id).counts()).isEqualTo(new JobCounts(1, 0, 0, 3, 0));
            assertThat(tokens).isSorted().doesNotHaveDuplicates().hasSize(4);
        }
    }

    @Test
    void a_handler_can_ask_for_a_later_retry() {
        JobHandler<String> handler = (payload, job) -> {
            throw JobSignal.retryAfter(Duration.ofMinutes(10), "busy");
        };
        try (EngineFixture engine = new EngineFixture(handler)) {
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(EXACT));
            engine.worker.runDue();
            assertThat(engine.sinceStart(engine.job(id).times().dueAt())).isEqualTo(Duration.ofMinutes(10));
        }
    }

    @Test
    void a_handler_can_fail_for_good_or_cancel_even_when_wrapped() {
        JobHandler<String> handler = (payload, job) -> {
            throw new IllegalStateException(
                    payload.equals("fail") ? JobSignal.fail("no such address") : JobSignal.cancel("not needed"));
        };
        try (EngineFixture engine = new EngineFixture(handler)) {
            JobId failed = engine.reprise.enqueue(WORK.job("fail"));
            JobId cancelled = engine.reprise.enqueue(WORK.job("cancel"));
            engine.worker.runDue();
            assertThat(engine.job(failed).failReason()).isEqualTo(FailReason.PERMANENT);
            assertThat(engine.job(cancelled).state()).isEqualTo(JobState.CANCELLED);
        }
    }

    @Test
    void trap_a_non_retryable_marker_is_found_behind_a_wrapping_exception() {
        JobHandler<String> handler = (payload, job) -> {
            throw new IOException("outer", new RuntimeException(new Hopeless()));
        };
        try (EngineFixture engine = new EngineFixture(handler)) {
            JobId id = engine.reprise.enqueue(WORK.job("a"));
            engine.worker.runDue();
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.PERMANENT);
        }
    }

    @Test
    void an_unreadable_payload_fails_at_once_and_is_kept() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            JobId id = engine.reprise.enqueue(WORK.job(TextCodec.UNREADABLE));
            engine.worker.runDue();
            assertThat(engine.ran).isEmpty();
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.UNREADABLE);
            assertThat(engine.job(id).spec().payload()).isEqualTo(TextCodec.UNREADABLE);
        }
    }

    @Test
    void a_type_nobody_handles_is_parked_without_a_trace_in_its_history() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            JobId id =
                    engine.reprise.enqueue(JobType.of("unknown", String.class).job("a"));
            engine.worker.advance(Duration.ofSeconds(1));
            Job job = engine.job(id);
            assertThat(job.state()).isEqualTo(JobState.PENDING);
            assertThat(job.attempts()).isZero();
            assertThat(job.status().waitReason()).isEqualTo(WaitReason.NO_HANDLER);
            assertThat(engine.reprise.attempts(id)).isEmpty();
        }
    }

    @Test
    void a_job_fails_by_deadline_rather_than_waiting_beyond_it() {
        try (EngineFixture engine = new EngineFixture(failing(99))) {
            RetryPolicy policy = EXACT.unlimited().deadline(Duration.ofSeconds(10));
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(policy));
            engine.worker.advance(Duration.ofSeconds(20));
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.DEADLINE);
            assertThat(engine.ran).hasSize(4);
        }
    }

    @Test
    void a_waiting_job_fails_when_its_deadline_passes() {
        try (EngineFixture engine =
                new EngineFixture((payload, job) -> {}, builder -> builder.queues(Queue.of("other")))) {
            JobId id = engine.reprise.enqueue(
                    WORK.job("a").retry(RetryPolicy.unset().deadline(Duration.ofMinutes(1))));
            engine.worker.advance(Duration.ofSeconds(59));
            assertThat(engine.job(id).state()).isEqualTo(JobState.PENDING);
            engine.worker.advance(Duration.ofSeconds(5));
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.DEADLINE);
            assertThat(engine.kinds()).contains(JobEvent.Kind.FAILED);
        }
    }

    @Test
    void switching_retries_off_fails_with_its_own_reason() {
        try (EngineFixture engine = new EngineFixture(failing(99), builder -> builder.retriesEnabled(false))) {
            JobId id = engine.reprise.enqueue(WORK.job("a"));
            engine.worker.runDue();
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.DISABLED);
        }
    }

    @Test
    void policies_are_layered_field_by_field() {
        RetryPolicy ofQueue = RetryPolicy.unset().maxAttempts(7).deadline(Duration.ofHours(1));
        RetryPolicy ofType = RetryPolicy.unset().maxAttempts(5);
        RetryPolicy global = RetryPolicy.fixed(Duration.ofSeconds(3)).jitter(io.reprise.retry.Jitter.none());
        try (EngineFixture engine = new EngineFixture(
                failing(99),
                builder -> builder.retry(global).queues(Queue.of("mail").retry(ofQueue)))) {
            JobId id = engine.reprise.enqueue(WORK.retry(ofType).job("a").queue("mail"));
            engine.worker.runDue();
            Job job = engine.job(id);
            assertThat(job.maxAttempts()).hasValue(5);
            assertThat(job.policy().deadline().toOptional()).contains(Duration.ofHours(1));
            assertThat(engine.sinceStart(job.times().dueAt())).isEqualTo(Duration.ofSeconds(3));
        }
    }

    @Test
    void a_stored_policy_is_not_changed_by_later_configuration() {
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {
                    throw new IllegalStateException("unclassified");
                },
                builder -> builder.queues(Queue.of("other")))) {
            JobId id = engine.reprise.enqueue(WORK.job("a"));
            // A deploy later: the same store, another worker with another opinion on what to retry.
            RepriseBuilder deployed = Reprise.builder()
                    .store(engine.memory)
                    .codec(new TextCodec())
                    .retry(RetryPolicy.none().retryOn(IOException.class))
                    .handle(WORK, (payload, job) -> {
                        throw new IllegalStateException("unclassified");
                    });
            try (InlineWorker worker = InlineWorker.start(deployed, engine.clock)) {
                worker.runDue();
            }
            assertThat(engine.job(id).state()).isEqualTo(JobState.PENDING);
            assertThat(engine.job(id).attempts()).isEqualTo(1);
        }
    }

    @Test
    void live_policies_follow_the_configuration() {
        try (EngineFixture engine =
                new EngineFixture(failing(99), builder -> builder.livePolicies().retry(RetryPolicy.none()))) {
            JobId id = engine.reprise.enqueue(WORK.job("a"));
            assertThat(engine.job(id).policy()).isEqualTo(RetryPolicy.unset().deadline(Duration.ofHours(24)));
            engine.worker.runDue();
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.EXHAUSTED);
        }
    }

    /** Seeds §9, check 11 (OQ-B6). */
    @Test
    void check_11_await_returns_only_terminal_outcomes() {
        try (EngineFixture engine = new EngineFixture(failing(2))) {
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(EXACT));
            assertThatThrownBy(() -> engine.reprise.await(id, Duration.ofSeconds(2)))
                    .isInstanceOf(NotFinishedException.class)
                    .hasMessageContaining(id.toString());
            Outcome outcome = engine.reprise.await(id, Duration.ofSeconds(10));
            assertThat(outcome.succeeded()).isTrue();
            assertThat(outcome.job().attempts()).isEqualTo(3);
        }
    }

    @Test
    void a_delayed_job_does_not_run_early() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            engine.reprise.enqueue(WORK.job("a").after(Duration.ofMinutes(5)));
            engine.worker.advance(Duration.ofMinutes(5).minusMillis(1));
            assertThat(engine.ran).isEmpty();
            engine.worker.advance(Duration.ofMillis(1));
            assertThat(engine.ran).containsExactly("a");
        }
    }

    @Test
    void an_error_is_the_jobs_affair_and_the_worker_goes_on() {
        JobHandler<String> handler = (payload, job) -> {
            if (payload.equals("bad")) {
                throw new StackOverflowError();
            }
        };
        try (EngineFixture engine = new EngineFixture(handler)) {
            JobId bad = engine.reprise.enqueue(WORK.job("bad"));
            JobId good = engine.reprise.enqueue(WORK.job("good"));
            engine.worker.runDue();
            assertThat(engine.job(bad).failReason()).isEqualTo(FailReason.PERMANENT);
            assertThat(engine.job(bad).attempts()).isEqualTo(1);
            assertThat(engine.job(good).state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void trap_a_throwing_listener_stops_nobody() {
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {},
                builder -> builder.listener(event -> {
                    throw new AssertionError("listener bug");
                }))) {
            JobId id = engine.reprise.enqueue(WORK.job("a"));
            engine.worker.runDue();
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void a_transient_failure_is_classified_in_the_decision() {
        try (EngineFixture engine = new EngineFixture(failing(1))) {
            JobId id = engine.reprise.enqueue(WORK.job("a"));
            engine.worker.runDue();
            Decision decision = engine.reprise.attempts(id).get(0).decision();
            assertThat(decision.failureClass()).isIn(FailureClass.TRANSIENT, FailureClass.DEPENDENCY_DOWN);
            assertThat(decision.rule()).isNotBlank();
        }
    }
}
