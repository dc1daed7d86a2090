// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.insight.Explanation;
import io.reprise.insight.JobEvent;
import io.reprise.job.Cancellation;
import io.reprise.job.Job;
import io.reprise.job.JobChange;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSignal;
import io.reprise.job.JobState;
import io.reprise.job.KeyReusedException;
import io.reprise.job.RefusedException;
import io.reprise.job.RefusedException.Code;
import io.reprise.job.WaitReason;
import io.reprise.retry.FailReason;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OperationsTest {

    private boolean healthy;
    private final EngineFixture engine = new EngineFixture((payload, job) -> {
        if (payload.equals("hopeless")) {
            throw JobSignal.fail("never");
        }
        if (!healthy) {
            throw new IOException("down");
        }
    });
    private final Operations operations = engine.reprise.as("ada", "provider is back");

    @AfterEach
    void close() {
        engine.close();
    }

    private JobId exhausted() {
        JobId id = engine.reprise.enqueue(WORK.job("a").retry(RetryPolicy.none()));
        engine.worker.runDue();
        assertThat(engine.job(id).failReason()).isEqualTo(FailReason.EXHAUSTED);
        return id;
    }

    private static void assertRefused(Code code, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        RefusedException.class,
                        refusal -> assertThat(refusal.code()).isEqualTo(code));
    }

    /** Seeds §9, check 9 (CD-07, CD-B5). */
    @Test
    void check_09_a_manual_retry_is_immediate_and_an_exhausted_job_needs_a_grant_or_force() {
        JobId id = exhausted();
        assertRefused(Code.MAX_RETRIES_EXCEEDED, () -> operations.retry(id, ManualRetry.NOW));
        operations.retry(id, ManualRetry.NOW.granting(2));
        Job requeued = engine.job(id);
        assertThat(requeued.status().waitReason()).isEqualTo(WaitReason.MANUAL);
        assertThat(requeued.times().dueAt()).isEqualTo(engine.clock.instant());
        assertThat(requeued.maxAttempts()).hasValue(3);
        engine.worker.advance(Duration.ofHours(2));
        assertThat(engine.job(id).attempts()).isEqualTo(3);
        healthy = true;
        operations.retry(id, ManualRetry.NOW.forced());
        engine.worker.runDue();
        assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(engine.reprise.audit(id)).hasSize(2).allSatisfy(entry -> {
            assertThat(entry.note().by()).isEqualTo("ada");
            assertThat(entry.note().why()).isEqualTo("provider is back");
        });
    }

    @Test
    void a_permanent_failure_is_retried_only_by_force() {
        JobId id = engine.reprise.enqueue(WORK.job("hopeless"));
        engine.worker.runDue();
        assertRefused(Code.NOT_RETRYABLE, () -> operations.retry(id, ManualRetry.NOW));
        operations.retry(id, ManualRetry.NOW.forced());
        assertThat(engine.job(id).state()).isEqualTo(JobState.PENDING);
    }

    @Test
    void resetting_counters_starts_the_policy_anew() {
        JobId id = exhausted();
        operations.retry(id, ManualRetry.NOW.resettingCounters());
        assertThat(engine.job(id).attempts()).isZero();
    }

    @Test
    void a_retry_with_backoff_waits_as_the_policy_says() {
        JobId id = engine.reprise.enqueue(WORK.job("a").retry(EXACT.maxAttempts(1)));
        engine.worker.runDue();
        operations.retry(id, ManualRetry.NOW.granting(1).withBackoff());
        assertThat(engine.sinceStart(engine.job(id).times().dueAt())).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void a_waiting_job_is_brought_forward() {
        healthy = true;
        JobId id = engine.reprise.enqueue(WORK.job("a").after(Duration.ofDays(1)));
        operations.retry(id, ManualRetry.NOW);
        engine.worker.runDue();
        assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    }

    @Test
    void what_does_not_exist_or_is_not_failed_is_refused() {
        healthy = true;
        JobId done = engine.reprise.enqueue(WORK.job("a"));
        engine.worker.runDue();
        assertRefused(Code.NOT_FOUND, () -> operations.retry(new JobId(999_999), ManualRetry.NOW));
        assertRefused(Code.INVALID_STATE, () -> operations.retry(done, ManualRetry.NOW));
        assertRefused(Code.INVALID_STATE, () -> operations.replay(done, Replay.FRESH));
        assertThat(operations.cancel(done)).isEqualTo(Cancellation.TOO_LATE);
    }

    @Test
    void a_dead_letter_is_replayed_as_a_new_job_with_another_payload_on_another_queue() {
        JobId dead = exhausted();
        healthy = true;
        JobId replayed = operations.replay(
                dead, Replay.FRESH.asNewJob().toQueue("second-chance").withPayload("\"edited\""));
        engine.worker.runDue();
        assertThat(replayed).isNotEqualTo(dead);
        assertThat(engine.reprise.find(dead)).isEmpty();
        assertThat(engine.ran).endsWith("\"edited\"");
        assertThat(engine.job(replayed).queue()).isEqualTo("second-chance");
    }

    @Test
    void a_patch_that_a_payload_cannot_take_is_refused_and_changes_nothing() {
        JobId dead = exhausted();
        assertThatThrownBy(() -> operations.replay(dead, Replay.FRESH.withPatch("{\"city\":\"Oslo\"}")))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("cannot take the patch");
        assertThat(operations
                        .all(JobQuery.deadLetters())
                        .replay(Replay.FRESH.withPatch("{\"city\":\"Oslo\"}"))
                        .refused())
                .containsOnlyKeys(dead);
        assertThat(engine.job(dead).state()).isEqualTo(JobState.FAILED);
        assertThatThrownBy(() -> Replay.FRESH.withPatch("[]")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_job_and_a_group_of_dead_letters_have_a_short_text() {
        JobId dead = exhausted();
        String text = "Job " + dead + " work in queue default: FAILED (EXHAUSTED), 1 attempt,"
                + " last error java.io.IOException: down";
        assertThat(engine.job(dead)).hasToString(text);
        assertThat(engine.reprise
                        .deadGroups(JobQuery.deadLetters(), 1)
                        .items()
                        .get(0)
                        .toString())
                .startsWith("1 dead letter with error ")
                .endsWith("latest: " + text);
    }

    @Test
    void a_replay_that_keeps_counters_gets_one_more_attempt() {
        JobId dead = exhausted();
        operations.replay(dead, Replay.FRESH.keepingCounters());
        engine.worker.runDue();
        assertThat(engine.job(dead).attempts()).isEqualTo(2);
        assertThat(engine.job(dead).state()).isEqualTo(JobState.FAILED);
    }

    @Test
    void bulk_operations_count_first_and_report_refusals() {
        for (int i = 0; i < 5; i++) {
            exhausted();
        }
        engine.reprise.enqueue(WORK.job("hopeless"));
        engine.worker.runDue();
        Bulk dead = operations.all(JobQuery.deadLetters());
        assertThat(dead.dryRun().replay(Replay.FRESH).matched()).isEqualTo(6);
        assertThat(dead.dryRun().replay(Replay.FRESH).done()).isZero();
        assertThat(dead.limit(2).discard().done()).isEqualTo(2);
        Bulk.Result retried = dead.retry(ManualRetry.NOW);
        assertThat(retried.matched()).isEqualTo(4);
        assertThat(retried.refused()).hasSize(4);
        healthy = true;
        assertThat(dead.replay(Replay.FRESH).done()).isEqualTo(4);
        engine.worker.runDue();
        assertThat(engine.reprise.find(JobQuery.deadLetters()).items()).isEmpty();
        assertThat(operations.prune(Set.of(JobState.SUCCEEDED), Duration.ZERO)).isZero();
        engine.worker.advance(Duration.ofSeconds(1));
        assertThat(operations.prune(Set.of(JobState.SUCCEEDED), Duration.ZERO)).isEqualTo(4);
    }

    @Test
    void dead_letters_are_found_by_the_fingerprint_of_their_error() {
        JobId a = exhausted();
        JobId b = exhausted();
        engine.reprise.enqueue(WORK.job("hopeless"));
        engine.worker.runDue();
        String fingerprint = engine.job(a).status().lastError().fingerprint();
        assertThat(engine.reprise
                        .find(JobQuery.deadLetters().fingerprint(fingerprint))
                        .items())
                .extracting(Job::id)
                .containsExactlyInAnyOrder(a, b);
    }

    @Test
    void a_pending_job_is_cancelled_at_once() {
        JobId id = engine.reprise.enqueue(WORK.job("a").after(Duration.ofDays(1)));
        assertThat(operations.cancel(id)).isEqualTo(Cancellation.DONE);
        assertThat(engine.job(id).state()).isEqualTo(JobState.CANCELLED);
        assertThat(engine.kinds()).endsWith(JobEvent.Kind.CANCELLED);
    }

    @Test
    void a_bulk_operation_is_one_entry_of_the_audit_log_beside_those_of_its_jobs() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            throw JobSignal.fail("no");
        })) {
            engine.reprise.enqueueAll(Collections.nCopies(450, WORK.job("x")));
            engine.worker.advance(Duration.ofSeconds(1));
            engine.events.clear();
            List<Long> seen = new ArrayList<>();
            Bulk.Result result = engine.reprise
                    .as("ada", "fixed")
                    .all(JobQuery.deadLetters())
                    .watchedBy(so -> seen.add(so.done()))
                    .replay(Replay.FRESH);
            assertThat(result.done()).isEqualTo(450);
            assertThat(seen).isNotEmpty().isSorted();
            assertThat(engine.kinds())
                    .filteredOn(JobEvent.Kind.REQUEUED::equals)
                    .hasSize(450);
            assertThat(engine.memory.audit(null, 1)).singleElement().satisfies(entry -> {
                assertThat(entry.action()).isEqualTo("bulk-replay");
                assertThat(entry.subject()).isEqualTo("jobs with {state=[FAILED]}");
                assertThat(entry.detail()).isEqualTo("450 of 450 jobs");
            });
        }
    }

    @Test
    void who_watches_a_bulk_operation_can_end_it() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, b -> b.queues(Queue.of("elsewhere")))) {
            engine.reprise.enqueueAll(Collections.nCopies(450, WORK.job("x")));
            Bulk.Result result = engine.reprise
                    .as("ada", null)
                    .all(JobQuery.all())
                    .watchedBy(so -> false)
                    .cancel();
            assertThat(result.done()).isPositive().isLessThan(450).isEqualTo(result.matched());
        }
    }

    @Test
    void live_policies_of_queue_and_worker_decide_about_a_manual_retry_too() {
        UnaryOperator<RepriseBuilder> live = builder -> builder.livePolicies()
                .queues(Queue.of("default")
                        .retry(RetryPolicy.fixed(Duration.ofMinutes(7)).jitter(Jitter.none())))
                .retry(RetryPolicy.unset().maxAttempts(2));
        JobHandler<String> failing = (payload, job) -> {
            throw new IOException("down");
        };
        try (EngineFixture fixture = new EngineFixture(failing, live)) {
            JobId id = fixture.reprise.enqueue(WORK.job("a"));
            fixture.worker.runDue();
            assertThat(fixture.reprise.explain(id).reasons())
                    .filteredOn(Explanation.NotDue.class::isInstance)
                    .singleElement()
                    .extracting(reason -> ((Explanation.NotDue) reason).maxAttempts())
                    .isEqualTo(OptionalInt.of(2));
            Instant before = fixture.clock.instant();
            fixture.reprise.as("ada", null).retry(id, ManualRetry.NOW.withBackoff());
            assertThat(fixture.job(id).times().dueAt()).isEqualTo(before.plus(Duration.ofMinutes(7)));
            fixture.worker.advance(Duration.ofMinutes(8));
            assertThat(fixture.job(id).failReason()).isEqualTo(FailReason.EXHAUSTED);
        }
    }

    @Test
    void granted_attempts_never_exceed_the_greatest_number_of_attempts() {
        JobId id = engine.reprise.enqueue(
                WORK.job("hopeless").retry(RetryPolicy.unset().maxAttempts(1_000_000)));
        engine.worker.runDue();
        operations.retry(id, ManualRetry.NOW.forced().granting(5));
        assertThat(engine.job(id).maxAttempts()).hasValue(1_000_000);
    }

    @Test
    void a_bulk_operation_reports_refusals_in_the_order_of_the_jobs() {
        List<JobId> ids = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            ids.add(0, exhausted());
        }
        assertThat(operations
                        .all(JobQuery.all())
                        .retry(ManualRetry.NOW)
                        .refused()
                        .keySet())
                .containsExactlyElementsOf(ids);
    }

    @Test
    void a_queue_or_resource_that_is_named_twice_is_refused_with_its_name() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Reprise.builder().queues(Queue.of("a"), Queue.of("b"), Queue.of("a")))
                .withMessageContaining("Queue 'a'");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Reprise.builder().resources(Resource.of("x")).resources(Resource.of("x")))
                .withMessageContaining("Resource 'x'");
    }

    @Test
    void time_does_not_go_back() {
        assertThatIllegalArgumentException().isThrownBy(() -> engine.worker.advance(Duration.ofNanos(-1)));
    }

    @Test
    void a_refused_key_names_its_job_after_serialization_too() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(new KeyReusedException("k", new JobId(7)));
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            assertThat(((KeyReusedException) in.readObject()).job()).isEqualTo(new JobId(7));
        }
    }

    @Test
    void a_dead_letter_is_retried_at_a_time_and_has_a_new_deadline() {
        JobId id = exhausted();
        Instant at = engine.clock.instant().plus(Duration.ofHours(3));
        operations.retry(id, ManualRetry.NOW.at(at).granting(1));
        assertThat(engine.job(id).times().dueAt()).isEqualTo(at);
        assertThat(engine.job(id).times().deadline()).isEqualTo(at.plus(Duration.ofHours(24)));
        healthy = true;
        engine.worker.advance(Duration.ofHours(2));
        assertThat(engine.job(id).state()).isEqualTo(JobState.PENDING);
        engine.worker.advance(Duration.ofHours(1));
        assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    }

    @Test
    void a_retry_into_the_past_names_field_value_and_bounds() {
        JobId id = exhausted();
        Instant past = engine.clock.instant().minusSeconds(60);
        ManualRetry then = ManualRetry.NOW.at(past).granting(1);
        assertRefused(Code.OUT_OF_BOUNDS, () -> operations.retry(id, then));
        assertThatThrownBy(() -> operations.retry(id, then))
                .hasMessageContaining("at is " + past)
                .hasMessageContaining("must be " + engine.clock.instant());
        assertThat(engine.job(id).state()).isEqualTo(JobState.FAILED);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ManualRetry.NOW.at(Instant.MAX))
                .withMessageContaining("at most 9899-12-31");
    }

    @Test
    void a_waiting_job_is_rescheduled_within_its_deadline() {
        JobId id = engine.reprise.enqueue(WORK.job("a").after(Duration.ofHours(1)));
        Instant now = engine.clock.instant();
        Instant deadline = now.plus(Duration.ofHours(25));
        operations.reschedule(id, now.plus(Duration.ofHours(24)));
        assertThat(engine.job(id).times().dueAt()).isEqualTo(now.plus(Duration.ofHours(24)));
        assertThat(engine.job(id).times().deadline()).isEqualTo(deadline);
        assertThatThrownBy(() -> operations.reschedule(id, deadline))
                .isInstanceOfSatisfying(
                        RefusedException.class,
                        refusal -> assertThat(refusal.code()).isEqualTo(Code.OUT_OF_BOUNDS))
                .hasMessageContaining("dueAt is " + deadline)
                .hasMessageContaining("before its deadline " + deadline);
        assertRefused(Code.OUT_OF_BOUNDS, () -> operations.reschedule(id, now.minusSeconds(1)));
        assertRefused(Code.NOT_FOUND, () -> operations.reschedule(new JobId(999), deadline));
        JobId dead = exhausted();
        assertRefused(Code.INVALID_STATE, () -> operations.reschedule(dead, now.plusSeconds(60)));
        assertThatIllegalArgumentException().isThrownBy(() -> operations.change(id, JobChange.NONE));
    }

    @Test
    void a_policy_is_given_to_all_that_wait_joined_with_the_layers_below() {
        List<JobId> ids = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            ids.add(engine.reprise.enqueue(WORK.job("a").after(Duration.ofHours(1))));
        }
        RetryPolicy policy = RetryPolicy.unset().maxAttempts(50);
        Bulk waiting = operations.all(JobQuery.all().state(JobState.PENDING));
        assertThat(waiting.dryRun().change(JobChange.NONE.withPolicy(policy)).matched())
                .isEqualTo(300);
        assertThat(engine.job(ids.get(0)).maxAttempts()).hasValue(20);
        assertThat(waiting.change(JobChange.NONE.withPolicy(policy)).done()).isEqualTo(300);
        assertThat(ids).allSatisfy(id -> {
            assertThat(engine.job(id).maxAttempts()).hasValue(50);
            assertThat(engine.job(id).policy().deadline().toOptional()).contains(Duration.ofHours(24));
        });
        assertThat(engine.reprise.audit(ids.get(7)))
                .singleElement()
                .satisfies(entry -> assertThat(entry.action()).isEqualTo("change"));
        RetryPolicy shorter = RetryPolicy.unset().deadline(Duration.ofMinutes(1));
        engine.clock.advance(Duration.ofHours(2));
        Bulk.Result refused = waiting.limit(1).change(JobChange.NONE.withPolicy(shorter));
        assertThat(refused.done()).isZero();
        assertThat(refused.refused().values()).singleElement().asString().contains("would have the deadline");
    }
}
