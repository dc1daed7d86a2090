// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.control.BudgetSettings;
import io.reprise.control.ControlKey;
import io.reprise.control.ControlSettings;
import io.reprise.insight.Explanation;
import io.reprise.insight.Explanation.Reason;
import io.reprise.job.JobId;
import io.reprise.job.RefusedException;
import io.reprise.job.WaitReason;
import io.reprise.retry.FailReason;
import io.reprise.store.ClaimRequest;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Why is this job not running? */
class ExplainTest {

    private static void fails(String payload, JobContext job) throws IOException {
        throw new IOException("busy");
    }

    private static EngineFixture idle() {
        return new EngineFixture((payload, job) -> {}, builder -> builder.queues(Queue.of("served")));
    }

    private static Reason only(EngineFixture engine, JobId id) {
        List<Reason> reasons = engine.reprise.explain(id).reasons();
        assertThat(reasons).hasSize(1);
        return reasons.get(0);
    }

    /** As a worker of which nothing is known but its lease. */
    private static void claim(EngineFixture engine, String queue, Duration lease) {
        engine.memory.claim(
                new ClaimRequest("other", lease, 10, List.of(new ClaimRequest.Demand(queue, 10)), 0.2, true));
    }

    @Test
    void a_job_that_does_not_exist_has_no_explanation() {
        try (EngineFixture engine = idle()) {
            assertThatThrownBy(() -> engine.reprise.explain(new JobId(99))).isInstanceOf(RefusedException.class);
        }
    }

    @Test
    void it_waits_for_its_retry() {
        try (EngineFixture engine = new EngineFixture(ExplainTest::fails)) {
            JobId id = engine.reprise.enqueue(WORK.job("x").retry(EXACT.maxAttempts(5)));
            engine.worker.advance(Duration.ofMillis(3_500));
            Explanation explanation = engine.reprise.explain(id);
            assertThat(explanation.reasons())
                    .containsExactly(new Explanation.NotDue(
                            engine.start.plusSeconds(7), WaitReason.RETRY, 3, OptionalInt.of(5), "io"));
            assertThat(explanation.nextAt()).isEqualTo(engine.start.plusSeconds(7));
            assertThat(explanation.sentence())
                    .isEqualTo("Job " + id + ": is due in 3 s after attempt 3 of 5 (RETRY) by rule 'io'.");
        }
    }

    @Test
    void its_queue_is_paused_and_it_is_not_even_due() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            engine.reprise.as("ada", "a migration").pause("default");
            JobId id = engine.reprise.enqueue(WORK.job("x").after(Duration.ofMinutes(1)));
            engine.worker.runDue();
            engine.worker.advance(Duration.ofSeconds(30));
            Explanation explanation = engine.reprise.explain(id);
            assertThat(explanation.reasons())
                    .containsExactly(
                            new Explanation.NotDue(
                                    engine.start.plusSeconds(60), WaitReason.DELAYED, 0, OptionalInt.of(20), null),
                            new Explanation.QueuePaused("default", engine.start, "ada", "a migration"));
            assertThat(explanation.sentence())
                    .contains("due in 30 s (DELAYED); queue default was paused by ada 30 s ago: a migration");
        }
    }

    @Test
    void text_of_a_person_does_not_turn_the_words_beside_it() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            engine.reprise.as("ada", "\u05d0\u05d1 \u202elater\nnow").pause("default");
            JobId id = engine.reprise.enqueue(WORK.job("x"));
            assertThat(engine.reprise.explain(id).sentence())
                    .contains(": \u2068\u05d0\u05d1  later now\u2069")
                    .doesNotContain("\u202e", "\n");
        }
    }

    @Test
    void nobody_serves_its_queue() {
        try (EngineFixture engine = idle()) {
            engine.worker.runDue();
            JobId id = engine.reprise.enqueue(WORK.job("x").queue("lonely"));
            assertThat(only(engine, id)).isEqualTo(new Explanation.NoWorker("lonely"));
        }
    }

    @Test
    void nobody_can_handle_its_type() {
        try (EngineFixture engine = idle()) {
            engine.worker.runDue();
            JobId id = engine.reprise.enqueue(
                    JobType.of("strange", String.class).job("x").queue("served"));
            assertThat(only(engine, id)).isEqualTo(new Explanation.NoHandler("served", "strange"));
        }
    }

    @Test
    void it_is_next() {
        try (EngineFixture engine = idle()) {
            engine.worker.runDue();
            JobId id = engine.reprise.enqueue(WORK.job("x").queue("served"));
            assertThat(only(engine, id)).isEqualTo(new Explanation.Next());
        }
    }

    @Test
    void others_come_before_it_and_fill_the_limit() {
        try (EngineFixture engine = idle()) {
            engine.worker.runDue();
            engine.reprise.enqueue(WORK.job("running").queue("served"));
            claim(engine, "served", Duration.ofMinutes(1));
            engine.reprise.as("ada", null).limit("served", 1);
            engine.reprise.enqueue(WORK.job("urgent").queue("served").priority(5));
            engine.reprise.enqueue(WORK.job("earlier").queue("served"));
            JobId id = engine.reprise.enqueue(WORK.job("x").queue("served"));
            assertThat(engine.reprise.explain(id).reasons())
                    .containsExactly(new Explanation.LimitReached("served", 1, 1), new Explanation.Behind(1, 1));
            assertThat(engine.reprise.explain(id).sentence())
                    .isEqualTo("Job " + id + ": the limit of queue served is reached: 1 of 1 jobs are running;"
                            + " is behind 1 job of higher priority and 1 job due earlier.");
        }
    }

    @Test
    void counting_those_before_it_ends_somewhere() {
        Explanation.Behind many = new Explanation.Behind(Explanation.MAX_JOBS + 1, 12);
        assertThat(many.text(Instant.EPOCH))
                .isEqualTo("is behind more than 1,000 jobs of higher priority and 12 jobs due earlier");
        try (EngineFixture engine = idle()) {
            for (int i = 0; i < Explanation.MAX_JOBS + 10; i++) {
                engine.reprise.enqueue(WORK.job("x").queue("lonely"));
            }
            JobId last = engine.reprise.enqueue(WORK.job("x").queue("lonely"));
            assertThat(engine.reprise.explain(last).reasons())
                    .contains(new Explanation.Behind(0, Explanation.MAX_JOBS + 1));
        }
    }

    @Test
    void it_runs_or_its_worker_is_silent() {
        try (EngineFixture engine = idle()) {
            JobId id = engine.reprise.enqueue(WORK.job("x").queue("lonely"));
            claim(engine, "lonely", Duration.ofSeconds(20));
            engine.clock.advance(Duration.ofSeconds(5));
            assertThat(only(engine, id))
                    .isEqualTo(new Explanation.Running("other", engine.start, engine.start.plusSeconds(20), false));
            assertThat(engine.reprise.explain(id).sentence())
                    .contains("has been running on other for 5 s, with a lease for another 15 s");
            engine.clock.advance(Duration.ofSeconds(20));
            assertThat(only(engine, id)).isEqualTo(new Explanation.Silent("other", engine.start.plusSeconds(20)));
        }
    }

    @Test
    void upkeep_that_is_late_is_named() {
        try (EngineFixture engine = idle()) {
            JobId lost = engine.reprise.enqueue(WORK.job("x").queue("lonely"));
            claim(engine, "lonely", Duration.ofSeconds(20));
            JobId late =
                    engine.reprise.enqueue(WORK.job("x").queue("lonely").retry(EXACT.deadline(Duration.ofSeconds(10))));
            engine.clock.advance(Duration.ofSeconds(30));
            assertThat(engine.reprise.explain(lost).reasons())
                    .endsWith(new Explanation.UpkeepLate("leases", 1, Duration.ofSeconds(10)));
            assertThat(engine.reprise.explain(late).reasons())
                    .endsWith(new Explanation.UpkeepLate("deadlines", 1, Duration.ofSeconds(20)));
            assertThat(engine.reprise.explain(late).sentence())
                    .contains("upkeep of deadlines is behind by 20 s, with 1 row to do");
        }
    }

    @Test
    void its_resource_is_down() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            engine.worker.runDue();
            engine.reprise.as("ada", "moving").forceOpen("provider-a");
            engine.worker.advance(Duration.ofSeconds(10));
            JobId id = engine.reprise.enqueue(WORK.job("x").resource("provider-a"));
            engine.worker.advance(Duration.ofSeconds(10));
            assertThat(engine.job(id).status().waitReason()).isEqualTo(WaitReason.BREAKER);
            Reason reason = only(engine, id);
            assertThat(reason).isInstanceOf(Explanation.HeldByBreaker.class);
            assertThat(reason.text(engine.clock.instant()))
                    .isEqualTo("the breaker for provider-a has been open for 20 s: kept open by ada: moving");
            engine.reprise.as("ada", null).forceClose("provider-a");
            engine.worker.advance(Duration.ofSeconds(30));
            assertThat(only(engine, id)).isInstanceOf(Explanation.Succeeded.class);
        }
    }

    @Test
    void its_retry_waits_for_a_budget() {
        ControlSettings small = ControlSettings.DEFAULT.queueBudget(BudgetSettings.OF_QUEUE.capacity(2_000));
        try (EngineFixture engine = new EngineFixture(ExplainTest::fails, builder -> builder.control(small))) {
            List<JobId> ids = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                ids.add(engine.reprise.enqueue(WORK.job("x")));
            }
            engine.worker.runDue();
            JobId parked = ids.stream()
                    .filter(id -> engine.job(id).status().waitReason() == WaitReason.BUDGET)
                    .findFirst()
                    .orElseThrow();
            assertThat(engine.reprise.explain(parked).reasons())
                    .anySatisfy(reason -> assertThat(reason)
                            .isInstanceOfSatisfying(Explanation.BudgetEmpty.class, empty -> {
                                assertThat(empty.budget()).isEqualTo(ControlKey.budgetOfQueue("default"));
                                assertThat(empty.now().waiting()).isEqualTo(300 - 2_000 / 14);
                            }));
            // The worker writes what it has spent, and all retries that ran meanwhile have failed again.
            engine.worker.advance(Duration.ofSeconds(3));
            assertThat(engine.reprise.explain(parked).sentence())
                    .containsPattern(
                            "the retry budget of queue default holds \\d{1,2} of 2,000 credits, and successes fill it;"
                                    + " all 300 retries that wait for it run in about \\d+ min");
        }
    }

    @Test
    void it_has_ended() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            if (payload.equals("bad")) {
                throw new IOException("busy");
            }
        })) {
            JobId good = engine.reprise.enqueue(WORK.job("good"));
            JobId bad = engine.reprise.enqueue(WORK.job("bad").retry(EXACT.maxAttempts(1)));
            JobId cancelled = engine.reprise.enqueue(WORK.job("x").after(Duration.ofDays(1)));
            engine.reprise.as("ada", null).cancel(cancelled);
            engine.worker.runDue();
            assertThat(only(engine, good)).isEqualTo(new Explanation.Succeeded(engine.start, 1));
            assertThat(only(engine, cancelled)).isEqualTo(new Explanation.Cancelled(engine.start));
            assertThat(only(engine, bad))
                    .isEqualTo(
                            new Explanation.Dead(FailReason.EXHAUSTED, engine.start, 1, "io", "java.io.IOException"));
        }
    }
}
