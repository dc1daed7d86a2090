// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.reprise.failure.FailureClass;
import io.reprise.job.AuditEntry;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSignal;
import io.reprise.job.JobState;
import io.reprise.job.PayloadException;
import io.reprise.job.RefusedException;
import io.reprise.job.WaitReason;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.step.Step;
import io.reprise.step.StepFailedException;
import io.reprise.step.StoredStep;
import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryTransaction;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What a handler sees of its steps, in virtual time. */
class StepsTest {

    private static final Step<String> CHARGE = Step.of("charge", String.class);
    private static final Duration HOUR = Duration.ofHours(1);

    private final List<String> did = new ArrayList<>();
    private final AtomicInteger fails = new AtomicInteger();

    /** Says what was done, and fails as often as it was told to. */
    private String work(String what) throws IOException {
        did.add(what);
        if (fails.getAndDecrement() > 0) {
            throw new IOException(what + " is not there");
        }
        return what + " is done";
    }

    private static JobId start(EngineFixture engine) {
        JobId id = engine.reprise.enqueue(WORK.job("order").retry(EXACT.noDeadline()));
        engine.worker.runDue();
        return id;
    }

    @Test
    void a_step_that_is_stored_is_not_run_again() {
        List<String> seen = new ArrayList<>();
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            seen.add(job.step(CHARGE, () -> work("charge")));
            job.step("reserve", () -> work("reserve"));
            if (job.attempt() < 3) {
                throw new IOException("later");
            }
        })) {
            JobId id = start(engine);
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(did).containsExactly("charge", "reserve");
            assertThat(seen).containsExactly("charge is done", "charge is done", "charge is done");
            assertThat(engine.reprise.steps(id)).extracting(StoredStep::name).containsExactly("charge", "reserve");
        }
    }

    @Test
    void a_failing_step_is_tried_again_after_the_delay_of_the_policy() {
        fails.set(2);
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            job.step("reserve", () -> did.add("reserve"));
            job.step(CHARGE, () -> work("charge"));
        })) {
            JobId id = start(engine);
            Job waiting = engine.job(id);
            assertThat(waiting.status().waitReason()).isEqualTo(WaitReason.RETRY);
            assertThat(waiting.times().dueAt()).isEqualTo(engine.start.plusSeconds(1));
            assertThat(Objects.requireNonNull(waiting.status().lastError()).type())
                    .isEqualTo("java.io.IOException");
            engine.worker.advance(Duration.ofSeconds(3));
            assertThat(did).containsExactly("reserve", "charge", "charge", "charge");
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void a_handler_cannot_swallow_the_failure_of_a_step() {
        fails.set(1);
        AtomicBoolean after = new AtomicBoolean();
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            try {
                job.step(CHARGE, () -> work("charge"));
            } catch (Exception e) {
                after.set(true);
            }
        })) {
            JobId id = start(engine);
            assertThat(engine.job(id).state()).isEqualTo(JobState.PENDING);
            assertThat(after).isFalse();
            engine.worker.advance(HOUR);
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void a_handler_that_swallows_everything_still_waits_for_its_step() {
        fails.set(1);
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            try {
                job.step(CHARGE, () -> work("charge"));
                job.sleep("night", HOUR);
            } catch (Throwable e) {
                did.add("swallowed");
            }
            job.result("over");
        })) {
            JobId id = start(engine);
            assertThat(engine.job(id).status().waitReason()).isEqualTo(WaitReason.RETRY);
            engine.worker.advance(Duration.ofSeconds(1));
            assertThat(engine.job(id).status().waitReason()).isEqualTo(WaitReason.SLEEP);
            engine.worker.advance(HOUR);
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void attempts_count_since_the_last_new_step() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            for (int i = 0; i < 5; i++) {
                String name = "step-" + i;
                job.step(name, () -> {
                    did.add(name);
                    if (did.stream().filter(name::equals).count() < 4) {
                        throw new IOException("not yet");
                    }
                });
            }
        })) {
            JobId id = start(engine);
            engine.worker.advance(Duration.ofDays(1));
            Job job = engine.job(id);
            assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(did).hasSize(20);
            assertThat(job.attempts()).isEqualTo(16);
        }
    }

    @Test
    void a_step_that_is_exhausted_fails_in_one_more_run_so_that_the_handler_can_undo() {
        fails.set(100);
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            job.step("reserve", () -> did.add("reserve"));
            try {
                job.step(CHARGE, () -> work("charge"));
            } catch (StepFailedException e) {
                assertThat(e.step()).isEqualTo("charge");
                assertThat(e.failure().reason()).isEqualTo(FailReason.EXHAUSTED);
                assertThat(e.failure().type()).isEqualTo("java.io.IOException");
                job.step("release", () -> did.add("release"));
            }
        })) {
            JobId id = start(engine);
            engine.worker.advance(HOUR);
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(did).containsExactly("reserve", "charge", "charge", "charge", "charge", "release");
        }
    }

    @Test
    void a_step_that_nobody_catches_fails_the_job_for_its_own_reason() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            job.step(CHARGE, () -> {
                did.add("charge");
                throw JobSignal.fail("the card is stolen");
            });
        })) {
            JobId id = start(engine);
            engine.worker.advance(HOUR);
            Job job = engine.job(id);
            assertThat(job.state()).isEqualTo(JobState.FAILED);
            assertThat(job.failReason()).isEqualTo(FailReason.PERMANENT);
            assertThat(Objects.requireNonNull(job.status().lastError()).message())
                    .contains("charge", "stolen");
            assertThat(did).containsExactly("charge");
            assertThat(engine.ran).hasSize(2);
        }
    }

    @Test
    void a_retry_by_hand_tries_a_failed_step_again() {
        fails.set(4);
        try (EngineFixture engine = new EngineFixture((payload, job) -> job.step(CHARGE, () -> work("charge")))) {
            JobId id = start(engine);
            engine.worker.advance(HOUR);
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.EXHAUSTED);
            engine.reprise.as("ada", "I asked the bank").retry(id, ManualRetry.NOW.forced());
            engine.worker.runDue();
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(did).hasSize(5);
        }
    }

    @Test
    void the_policy_of_a_step_comes_before_that_of_the_job() {
        fails.set(100);
        Step<String> twice =
                CHARGE.retry(RetryPolicy.fixed(Duration.ofSeconds(10)).maxAttempts(2));
        try (EngineFixture engine = new EngineFixture((payload, job) -> job.step(twice, () -> work("charge")))) {
            JobId id = start(engine);
            Duration delay = engine.sinceStart(
                    Objects.requireNonNull(engine.job(id).times().dueAt()));
            assertThat(delay)
                    .isBetween(Duration.ofSeconds(1), Duration.ofSeconds(15))
                    .isNotEqualTo(Duration.ofSeconds(1));
            engine.worker.advance(HOUR);
            assertThat(did).hasSize(2);
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.EXHAUSTED);
        }
    }

    @Test
    void a_step_has_a_key_for_other_systems() {
        List<String> keys = new ArrayList<>();
        fails.set(1);
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            job.step(CHARGE, () -> {
                keys.add(job.stepKey());
                return work("charge");
            });
            assertThatExceptionOfType(IllegalStateException.class).isThrownBy(job::stepKey);
        })) {
            JobId id = start(engine);
            engine.worker.advance(HOUR);
            assertThat(keys).containsExactly(id + "/charge", id + "/charge");
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    private static StoredStep.State stateOf(EngineFixture engine, JobId id, String step) {
        return engine.reprise.steps(id).stream()
                .filter(each -> each.name().equals(step))
                .findFirst()
                .orElseThrow()
                .state();
    }

    @Test
    void a_sleep_ends_the_run_and_the_next_run_goes_on_behind_it() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            job.step("before", () -> did.add("before"));
            job.sleep("night", HOUR);
            job.step("after", () -> did.add("after"));
        })) {
            JobId id = start(engine);
            Job job = engine.job(id);
            assertThat(job.state()).isEqualTo(JobState.PENDING);
            assertThat(job.status().waitReason()).isEqualTo(WaitReason.SLEEP);
            assertThat(job.times().dueAt()).isEqualTo(engine.start.plus(HOUR));
            assertThat(job.attempts()).isZero();
            engine.worker.advance(HOUR.minusSeconds(1));
            assertThat(did).containsExactly("before");
            assertThat(stateOf(engine, id, "night")).isEqualTo(StoredStep.State.OPEN);
            engine.worker.advance(Duration.ofSeconds(1));
            assertThat(did).containsExactly("before", "after");
            assertThat(stateOf(engine, id, "night")).as("a sleep that is over").isEqualTo(StoredStep.State.DONE);
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(engine.job(id).attempts()).isEqualTo(1);
        }
    }

    @Test
    void a_wait_beyond_the_deadline_fails_at_once_with_advice() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> job.sleep("week", HOUR.multipliedBy(7)))) {
            JobId id = engine.reprise.enqueue(WORK.job("order").retry(EXACT.deadline(HOUR)));
            engine.worker.runDue();
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.DEADLINE);
            assertThat(Objects.requireNonNull(engine.job(id).status().lastError())
                            .message())
                    .contains("week", "deadline", "noDeadline()");
        }
    }

    @Test
    void a_job_that_is_woken_too_early_sleeps_on() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            job.sleep("night", HOUR);
            did.add("morning");
        })) {
            JobId id = start(engine);
            engine.worker.advance(Duration.ofMinutes(15));
            engine.reprise.as("ada", "I asked the bank").retry(id, ManualRetry.NOW);
            engine.worker.runDue();
            assertThat(engine.job(id).status().waitReason()).isEqualTo(WaitReason.SLEEP);
            assertThat(engine.job(id).times().dueAt()).isEqualTo(engine.start.plus(HOUR));
            engine.worker.advance(Duration.ofMinutes(45));
            assertThat(did).containsExactly("morning");
        }
    }

    @Test
    void a_job_that_is_woken_again_and_again_fails() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> job.sleep("night", HOUR))) {
            JobId id = start(engine);
            for (int i = 0; i < 100; i++) {
                engine.reprise.as("ada", "I asked the bank").retry(id, ManualRetry.NOW);
                engine.worker.runDue();
            }
            assertThat(engine.job(id).state()).isEqualTo(JobState.FAILED);
            assertThat(Objects.requireNonNull(engine.job(id).status().lastError())
                            .message())
                    .contains("night", "100 times");
        }
    }

    @Test
    void an_event_is_awaited_and_told() {
        try (EngineFixture engine =
                new EngineFixture((payload, job) -> did.add(job.await("approval", String.class, HOUR)))) {
            JobId id = start(engine);
            assertThat(engine.job(id).status().waitReason()).isEqualTo(WaitReason.EVENT);
            engine.worker.advance(Duration.ofMinutes(10));
            assertThatNullPointerException()
                    .isThrownBy(() -> engine.reprise.tell(id, "approval", null))
                    .withMessageContaining("event approval needs a value");
            assertThat(engine.reprise.tell(id, "approval", "yes")).isTrue();
            assertThat(engine.reprise.tell(id, "approval", "no")).isFalse();
            engine.worker.runDue();
            assertThat(did).containsExactly("yes");
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
            assertThatExceptionOfType(RefusedException.class)
                    .isThrownBy(() -> engine.reprise.tell(id, "approval", "late"))
                    .withMessageContaining("Job " + id + " has ended: nobody waits for event approval");
            assertThat(engine.reprise.steps(id).get(0).value()).contains("yes");
        }
    }

    @Test
    void an_event_may_come_first() {
        try (EngineFixture engine =
                new EngineFixture((payload, job) -> did.add(job.await("approval", String.class, HOUR)))) {
            JobId id = engine.reprise.enqueue(WORK.job("order").retry(EXACT));
            engine.reprise.tell(id, "approval", "yes");
            engine.worker.runDue();
            assertThat(did).containsExactly("yes");
            assertThat(engine.ran).hasSize(1);
        }
    }

    @Test
    void an_event_that_does_not_come_fails_its_step() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            try {
                job.await("approval", String.class, HOUR);
            } catch (StepFailedException e) {
                did.add(e.failure().failureClass().name());
                job.step("remind", () -> work("remind"));
            }
        })) {
            fails.set(1);
            JobId id = start(engine);
            engine.worker.advance(HOUR);
            assertThat(engine.job(id).status().waitReason()).isEqualTo(WaitReason.RETRY);
            assertThat(engine.reprise.tell(id, "approval", "late")).isFalse();
            engine.worker.advance(HOUR);
            assertThat(did)
                    .containsExactly(FailureClass.TIMEOUT.name(), "remind", FailureClass.TIMEOUT.name(), "remind");
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void a_name_that_is_used_twice_is_refused_with_both_places() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            job.step("charge", () -> did.add("first"));
            job.step("charge", () -> did.add("second"));
        })) {
            JobId id = start(engine);
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.PERMANENT);
            String message = Objects.requireNonNull(
                    Objects.requireNonNull(engine.job(id).status().lastError()).message());
            assertThat(message).contains("charge").containsPattern("StepsTest.java:\\d+ was used.*StepsTest.java:\\d+");
            assertThat(did).containsExactly("first");
            assertThat(engine.reprise.steps(id)).extracting(StoredStep::name).containsExactly("charge");
        }
    }

    @Test
    void a_step_inside_a_step_is_refused_with_both_places() {
        try (EngineFixture engine = new EngineFixture((payload, job) ->
                job.step("outer", () -> job.step("inner", () -> did.add("inner"))))) {
            JobId id = start(engine);
            engine.worker.runDue();
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.PERMANENT);
            assertThat(Objects.requireNonNull(engine.job(id).status().lastError())
                            .message())
                    .contains("inner", "outer")
                    .containsPattern("StepsTest.java:\\d+ begins inside.*StepsTest.java:\\d+");
            assertThat(did).isEmpty();
        }
    }

    @Test
    void a_name_that_means_another_kind_now_is_refused() {
        AtomicBoolean deployed = new AtomicBoolean();
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            if (deployed.get()) {
                job.sleep("charge", HOUR);
            } else {
                job.step("charge", () -> did.add("charge"));
                throw new IOException("later");
            }
        })) {
            JobId id = start(engine);
            deployed.set(true);
            engine.worker.advance(HOUR);
            assertThat(Objects.requireNonNull(engine.job(id).status().lastError())
                            .message())
                    .contains("charge", "SLEEP", "STEP");
        }
    }

    @Test
    void a_result_that_does_not_fit_any_more_is_unreadable_and_both_types_are_named() {
        AtomicBoolean deployed = new AtomicBoolean();
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            if (deployed.get()) {
                job.step(Step.of("charge", Integer.class), () -> 1);
            } else {
                job.step(CHARGE, () -> work("charge"));
                throw new IOException("later");
            }
        })) {
            JobId id = start(engine);
            deployed.set(true);
            engine.worker.advance(HOUR);
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.UNREADABLE);
            assertThat(Objects.requireNonNull(engine.job(id).status().lastError())
                            .message())
                    .contains("charge", "java.lang.String", "java.lang.Integer");
            assertThat(engine.reprise.steps(id)).hasSize(1);
        }
    }

    @Test
    void a_result_that_is_too_long_is_a_clear_failure() {
        try (EngineFixture engine = new EngineFixture((payload, job) ->
                job.step(CHARGE, () -> "x".repeat(StoredStep.MAX_VALUE_BYTES + 1)))) {
            JobId id = start(engine);
            engine.worker.runDue();
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.PERMANENT);
            assertThat(Objects.requireNonNull(engine.job(id).status().lastError())
                            .message())
                    .contains("charge", "262144", "elsewhere");
            assertThatExceptionOfType(PayloadException.class)
                    .isThrownBy(() -> engine.reprise.tell(id, "x", "x".repeat(StoredStep.MAX_VALUE_BYTES + 1)));
        }
    }

    @Test
    void a_job_has_at_most_1_000_steps() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            for (int i = 0; i <= StoredStep.MAX_STEPS; i++) {
                job.step("s" + i, () -> did.add("s"));
            }
        })) {
            JobId id = start(engine);
            assertThat(did).hasSize(StoredStep.MAX_STEPS);
            assertThat(Objects.requireNonNull(engine.job(id).status().lastError())
                            .message())
                    .contains("1000 steps", "s1000", "jobs of their own");
        }
    }

    @Test
    void a_step_that_runs_at_most_once_is_left_to_a_person() {
        fails.set(1);
        try (EngineFixture engine =
                new EngineFixture((payload, job) -> did.add(job.step(CHARGE.atMostOnce(), () -> work("charge"))))) {
            JobId id = start(engine);
            assertThat(engine.job(id).state()).isEqualTo(JobState.FAILED);
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.UNKNOWN_OUTCOME);
            assertThatExceptionOfType(RefusedException.class)
                    .isThrownBy(
                            () -> engine.reprise.as("ada", "I asked the bank").retry(id, ManualRetry.NOW));
            engine.reprise.as("ada", "I asked the bank").retry(id, ManualRetry.NOW.forced());
            engine.worker.runDue();
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.UNKNOWN_OUTCOME);
            assertThat(did).containsExactly("charge");
            engine.reprise.as("ada", "I asked the bank").finishStep(id, "charge", "\"paid by hand\"");
            engine.worker.runDue();
            assertThat(did).containsExactly("charge", "\"paid by hand\"");
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(engine.reprise.audit(id)).extracting(AuditEntry::action).contains("resolve-step", "retry");
        }
    }

    /** Reads texts and numbers. */
    private static final class NumberCodec implements PayloadCodec {

        @Override
        public String encode(Object value) {
            return value.toString();
        }

        @Override
        public <T> T decode(String json, Class<T> type) {
            try {
                return type.cast(type == Integer.class ? Integer.valueOf(json) : json);
            } catch (NumberFormatException e) {
                throw new PayloadException("not a number", e);
            }
        }
    }

    @Test
    void a_person_who_gave_a_result_of_the_wrong_type_corrects_it() {
        fails.set(1);
        Step<Integer> charge = Step.of("charge", Integer.class).atMostOnce();
        JobHandler<String> handler = (payload, job) -> did.add("paid "
                + job.step(charge, () -> {
                    work("charge");
                    return 1;
                }));
        try (EngineFixture engine = new EngineFixture(handler, builder -> builder.codec(new NumberCodec()))) {
            JobId id = start(engine);
            Operations ada = engine.reprise.as("ada", "I asked the bank");
            ada.finishStep(id, "charge", "\"seventeen\"");
            engine.worker.runDue();
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.UNREADABLE);
            ada.finishStep(id, "charge", "17");
            engine.worker.runDue();
            assertThat(did).containsExactly("charge", "paid 17");
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void the_last_attempt_of_a_step_that_runs_at_most_once_is_left_to_a_person_too() {
        fails.set(1);
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            try {
                job.step(CHARGE.atMostOnce(), () -> work("charge"));
            } catch (StepFailedException e) {
                did.add("undo");
            }
        })) {
            JobId id = engine.reprise.enqueue(WORK.job("order").retry(EXACT.maxAttempts(1)));
            engine.worker.advance(HOUR);
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.UNKNOWN_OUTCOME);
            assertThat(engine.reprise.steps(id))
                    .extracting(StoredStep::state)
                    .containsExactly(StoredStep.State.STARTED);
            assertThat(did).containsExactly("charge");
        }
    }

    @Test
    void what_a_person_says_of_a_failed_step_is_bounded() {
        fails.set(1);
        try (EngineFixture engine =
                new EngineFixture((payload, job) -> job.step(CHARGE.atMostOnce(), () -> work("charge")))) {
            JobId id = start(engine);
            engine.reprise.as("ada", null).failStep(id, "charge", "no".repeat(100_000));
            assertThat(Objects.requireNonNull(engine.reprise.steps(id).get(0).failure())
                            .message())
                    .hasSizeLessThanOrEqualTo(2_000);
        }
    }

    @Test
    void a_person_may_say_that_a_step_failed_or_let_it_run_again() {
        fails.set(1);
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            try {
                job.step(CHARGE.atMostOnce(), () -> work("charge"));
            } catch (StepFailedException e) {
                did.add(Objects.requireNonNull(e.failure().message()));
                throw e;
            }
        })) {
            JobId id = start(engine);
            engine.reprise.as("ada", "I asked the bank").failStep(id, "charge", "the bank says no");
            engine.worker.runDue();
            assertThat(did).containsExactly("charge", "the bank says no");
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.PERMANENT);
            engine.reprise.as("ada", "I asked the bank").forgetStep(id, "charge");
            engine.reprise.as("ada", "I asked the bank").retry(id, ManualRetry.NOW.forced());
            engine.worker.runDue();
            assertThat(did).containsExactly("charge", "the bank says no", "charge");
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void a_job_is_replayed_from_a_step() {
        AtomicBoolean broken = new AtomicBoolean(true);
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            for (String name : List.of("one", "two", "three")) {
                job.step(name, () -> did.add(name));
                job.sleep(name + "-rest", Duration.ofSeconds(1));
            }
            if (broken.get()) {
                throw JobSignal.fail("broken");
            }
        })) {
            JobId id = start(engine);
            engine.worker.advance(HOUR);
            assertThat(engine.job(id).state()).isEqualTo(JobState.FAILED);
            broken.set(false);
            engine.reprise.as("ada", "I asked the bank").forgetStepsFrom(id, "two");
            engine.reprise.as("ada", "I asked the bank").replay(id, Replay.FRESH);
            engine.worker.advance(HOUR);
            assertThat(did).containsExactly("one", "two", "three", "two", "three");
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void a_step_commits_with_the_work_of_a_transaction() {
        AtomicBoolean commit = new AtomicBoolean();
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            InMemoryTransaction transaction = new InMemoryTransaction();
            job.step("book", transaction, () -> did.add("book"));
            if (!commit.getAndSet(true)) {
                transaction.rollback();
                throw new IOException("rolled back");
            }
            transaction.commit();
            if (job.attempt() < 4) {
                throw new IOException("later");
            }
        })) {
            JobId id = start(engine);
            engine.worker.advance(HOUR);
            assertThat(did).containsExactly("book", "book");
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void a_run_that_ended_in_a_step_does_not_complete_its_job() {
        fails.set(1);
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            InMemoryTransaction transaction = new InMemoryTransaction();
            try {
                job.step(CHARGE, () -> work("charge"));
            } catch (Throwable swallowed) {
                did.add("swallowed");
            }
            job.complete(transaction);
            transaction.commit();
        })) {
            JobId id = start(engine);
            assertThat(engine.job(id).state()).isEqualTo(JobState.PENDING);
            engine.worker.advance(HOUR);
            assertThat(did).containsExactly("charge", "swallowed", "charge");
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void a_run_that_lost_its_lease_ends_at_its_next_step() {
        AtomicInteger runs = new AtomicInteger();
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            if (runs.getAndIncrement() == 0) {
                // Another worker takes the job over while this handler stands still.
                EngineFixture[] here = fixture;
                here[0].clock.advance(Duration.ofMinutes(10));
                here[0].memory.takeOver("other", Duration.ZERO, 10);
                did.add("late");
                job.step("charge", () -> did.add("charge"));
                did.add("never");
            } else {
                job.step("charge", () -> did.add("charge"));
            }
        })) {
            fixture[0] = engine;
            JobId id = start(engine);
            assertThat(did).containsExactly("late", "charge");
            assertThat(engine.reprise.steps(id)).isEmpty();
            engine.worker.advance(HOUR);
            assertThat(did).doesNotContain("never");
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    private final EngineFixture[] fixture = new EngineFixture[1];

    @Test
    void a_lost_answer_to_a_step_is_success() {
        AtomicInteger losses = new AtomicInteger(2);
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> job.step("charge", () -> did.add("charge")),
                builder -> builder,
                store -> losing(store, losses))) {
            JobId id = start(engine);
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(did).containsExactly("charge");
            assertThat(losses).hasValue(0);
        }
    }

    /** A store that writes steps and loses some of its answers. */
    private static JobStore losing(JobStore store, AtomicInteger losses) {
        return (JobStore) java.lang.reflect.Proxy.newProxyInstance(
                StepsTest.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, arguments) -> {
                    try {
                        Object answer = method.invoke(store, arguments);
                        if (method.getName().equals("checkpoint") && losses.get() > 0) {
                            losses.decrementAndGet();
                            throw new io.reprise.store.StoreException(
                                    "the connection broke", new IOException("reset"), true);
                        }
                        return answer;
                    } catch (java.lang.reflect.InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
