// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import io.reprise.control.ControlSettings;
import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.insight.Activity;
import io.reprise.insight.ActivityPeriod;
import io.reprise.insight.CostEntry;
import io.reprise.insight.Costs;
import io.reprise.insight.DeadGroup;
import io.reprise.insight.ErrorKey;
import io.reprise.insight.Evidence;
import io.reprise.insight.JobEvent;
import io.reprise.job.Attempt;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.WaitReason;
import io.reprise.job.WorkerState;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.retry.Prediction;
import io.reprise.store.ActivityQuery;
import io.reprise.store.ClaimRequest;
import io.reprise.store.CountedAs;
import io.reprise.store.Settlement;
import io.reprise.testing.InlineWorker;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What the engine counts, predicts and reports of its own work. */
class InsightTest {

    /** Budgets would hold back the many retries that make evidence. */
    private static RepriseBuilder free(RepriseBuilder builder) {
        return builder.control(ControlSettings.off());
    }

    /** Fails the first attempt of every job, and the second of those called "bad". */
    private static void shaky(String payload, JobContext job) throws IOException {
        if (job.attempt() == 1 || payload.equals("bad")) {
            throw new IOException("busy");
        }
    }

    private static void run(EngineFixture engine, String payload, int jobs) {
        for (int i = 0; i < jobs; i++) {
            engine.reprise.enqueue(WORK.job(payload).retry(EXACT.maxAttempts(2)));
        }
        engine.worker.advance(Duration.ofSeconds(30));
    }

    private static Decision lastDecision(EngineFixture engine, JobId id) {
        List<Attempt> attempts = engine.reprise.attempts(id);
        return Objects.requireNonNull(attempts.get(attempts.size() - 1).decision());
    }

    @Test
    void the_fleet_learns_how_often_retries_succeed() {
        try (EngineFixture engine = new EngineFixture(InsightTest::shaky, InsightTest::free)) {
            run(engine, "good", 30);
            run(engine, "bad", 10);
            List<Evidence> evidence = engine.reprise.evidence();
            assertThat(evidence).hasSize(1);
            Evidence only = evidence.get(0);
            assertThat(only.attempt()).isEqualTo(1);
            assertThat(only.cause().type()).isEqualTo("work");
            assertThat(only.cause().errorType()).isEqualTo(IOException.class.getName());
            assertThat(only.tries()).isCloseTo(40, within(0.1));
            assertThat(only.prediction().probability()).isCloseTo(0.75, within(0.001));
        }
    }

    @Test
    void a_decision_says_what_is_known_and_the_history_keeps_it() {
        try (EngineFixture engine = new EngineFixture(InsightTest::shaky, InsightTest::free)) {
            JobId unknown = engine.reprise.enqueue(WORK.job("good").retry(EXACT.maxAttempts(2)));
            engine.worker.advance(Duration.ofSeconds(5));
            assertThat(engine.reprise.attempts(unknown).get(0).decision().prediction())
                    .isNull();
            run(engine, "good", 30);
            JobId known = engine.reprise.enqueue(WORK.job("good").retry(EXACT.maxAttempts(2)));
            engine.worker.runDue();
            Prediction predicted =
                    Objects.requireNonNull(lastDecision(engine, known).prediction());
            assertThat(predicted.basis()).isEqualTo(Prediction.Basis.ATTEMPT);
            assertThat(predicted.probability()).isEqualTo(1);
            assertThat(predicted.tries()).isCloseTo(31, within(0.1));
            assertThat(engine.reprise.explain(known).prediction()).isNotNull();
        }
    }

    @Test
    void a_group_of_dead_letters_says_what_is_known_of_another_attempt() {
        try (EngineFixture engine = new EngineFixture(InsightTest::shaky, InsightTest::free)) {
            run(engine, "good", 30);
            run(engine, "bad", 10);
            List<DeadGroup> groups =
                    engine.reprise.deadGroups(JobQuery.all().brief(), 10).items();
            assertThat(groups).hasSize(1);
            Job latest = groups.get(0).latest();
            assertThat(Objects.requireNonNull(latest.status().prediction()).probability())
                    .isCloseTo(0.75, within(0.001));
        }
    }

    @Test
    void another_fleet_member_starts_with_what_was_learned() {
        try (EngineFixture engine = new EngineFixture(InsightTest::shaky, InsightTest::free)) {
            run(engine, "good", 20);
            engine.worker.close();
            List<JobEvent> events = new ArrayList<>();
            InlineWorker next = InlineWorker.start(
                    free(Reprise.builder()
                            .store(engine.memory)
                            .codec(new TextCodec())
                            .name("successor")
                            .listener(events::add)
                            .handle(WORK, (payload, job) -> {
                                throw new IOException("busy");
                            })),
                    engine.clock);
            next.runDue();
            next.reprise().enqueue(WORK.job("x").retry(EXACT));
            next.runDue();
            Decision decision =
                    Objects.requireNonNull(events.get(events.size() - 1).decision());
            // Another handler throws it, so the error is another one: what is known of the type is a hint.
            assertThat(Objects.requireNonNull(decision.prediction()).basis()).isEqualTo(Prediction.Basis.TYPE);
            next.close();
        }
    }

    @Test
    void hopeless_jobs_are_given_up_when_the_policy_says_so() {
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {
                    throw new IOException("busy");
                },
                InsightTest::free)) {
            run(engine, "bad", 60);
            List<JobId> ids = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                ids.add(engine.reprise.enqueue(WORK.job("bad").retry(EXACT.giveUpBelow(0.02, 50))));
            }
            engine.worker.runDue();
            List<Job> hopeless = ids.stream()
                    .map(engine::job)
                    .filter(job -> job.failReason() == FailReason.HOPELESS)
                    .toList();
            assertThat(hopeless).hasSizeGreaterThan(30).hasSizeLessThan(40);
            assertThat(hopeless.get(0).attempts()).isEqualTo(1);
            assertThat(engine.reprise.explain(hopeless.get(0).id()).sentence()).contains("HOPELESS");
        }
    }

    @Test
    void evidence_fades() {
        try (EngineFixture engine = new EngineFixture(InsightTest::shaky, InsightTest::free)) {
            run(engine, "good", 32);
            engine.clock.advance(Duration.ofDays(1));
            assertThat(engine.reprise.evidence().get(0).tries()).isCloseTo(16, within(0.1));
            engine.clock.advance(Duration.ofDays(6));
            engine.worker.advance(Duration.ofHours(1));
            assertThat(engine.reprise.evidence()).isEmpty();
        }
    }

    @Test
    void errors_without_number_are_counted_together() {
        int[] next = new int[1];
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {
                    if (job.attempt() == 1) {
                        throw new IOException("oops " + (char) ('a' + next[0] / 26) + (char) ('a' + next[0]++ % 26));
                    }
                },
                InsightTest::free)) {
            run(engine, "good", 300);
            Set<ErrorKey> causes = new HashSet<>();
            engine.reprise.evidence().forEach(each -> causes.add(each.cause()));
            assertThat(causes).hasSize(51).contains(ErrorKey.otherError("work", null));
            assertThat(engine.reprise.evidence().stream()
                            .mapToDouble(Evidence::tries)
                            .sum())
                    .isCloseTo(300, within(1.0));
        }
    }

    @Test
    void costs_are_summed_by_what_caused_the_run() {
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {
                    job.cost(0.5, "usd");
                    job.cost(0.25, "usd");
                    shaky(payload, job);
                },
                InsightTest::free)) {
            run(engine, "good", 4);
            run(engine, "bad", 1);
            Costs costs = engine.reprise.costs(Duration.ofDays(1));
            assertThat(costs.jobs()).isEqualTo(5);
            assertThat(costs.retries()).isEqualTo(5);
            assertThat(costs.saved()).isEqualTo(4);
            assertThat(costs.cost("usd")).isEqualTo(7.5);
            assertThat(costs.retryCost("usd")).isEqualTo(3.75);
            assertThat(costs.wastedRetryCost("usd")).isEqualTo(0.75);
            assertThat(costs.type("work").entries()).isEqualTo(costs.entries());
            assertThat(costs.type("other").entries()).isEmpty();
            assertThat(costs.entries()).extracting(CostEntry::unit).contains(CostEntry.SECONDS, "usd");
            assertThat(costs.sentence()).startsWith("5 retries took 0.0 s").endsWith("saved 4 jobs.");
        }
    }

    private static Activity.Counts successes(int jobs, int millis) {
        return new Activity.Counts(jobs, jobs, 0, 0, 0, 0, Duration.ZERO, Duration.ofMillis(millis));
    }

    private static Activity.Counts counted(EngineFixture engine, Activity.Subject subject, String name) {
        return engine.memory.activity(new ActivityQuery(subject, Activity.Step.MINUTE, 10, name, false)).stream()
                .map(ActivityPeriod::counts)
                .reduce(Activity.Counts.NONE, Activity.Counts::plus);
    }

    @Test
    void successes_that_come_in_turn_count_for_their_own_queue_and_resource() {
        EngineFixture[] self = new EngineFixture[1];
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> self[0].clock.advance(Duration.ofMillis(Long.parseLong(payload))),
                builder -> builder.queues(Queue.of("a"), Queue.of("b")).concurrency(1))) {
            self[0] = engine;
            for (int i = 0; i < 3; i++) {
                engine.reprise.enqueue(WORK.job("10").queue("a"));
                engine.reprise.enqueue(WORK.job("20").queue("a").resource("r"));
                engine.reprise.enqueue(WORK.job("30").queue("b"));
                engine.worker.advance(Duration.ofSeconds(1));
            }
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.memory.activity(Duration.ZERO, 10))
                    .extracting(Activity::name, Activity::counts)
                    .containsExactly(tuple("work", successes(9, 180)));
            assertThat(counted(engine, Activity.Subject.QUEUE, "a")).isEqualTo(successes(6, 90));
            assertThat(counted(engine, Activity.Subject.QUEUE, "b")).isEqualTo(successes(3, 90));
            assertThat(counted(engine, Activity.Subject.RESOURCE, "r")).isEqualTo(successes(3, 60));
            assertThat(engine.reprise.costs(Duration.ofDays(1)).entries())
                    .extracting(entry -> entry.cause().resource(), CostEntry::runs, CostEntry::successes)
                    .containsExactlyInAnyOrder(tuple(null, 6L, 6L), tuple("r", 3L, 3L));
        }
    }

    @Test
    void time_spent_on_retries_is_measured() {
        EngineFixture[] self = new EngineFixture[1];
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {
                    self[0].clock.advance(Duration.ofMillis(500));
                    shaky(payload, job);
                },
                InsightTest::free)) {
            self[0] = engine;
            run(engine, "good", 2);
            run(engine, "bad", 1);
            Costs costs = engine.reprise.costs(Duration.ZERO);
            assertThat(costs.retryTime()).isEqualTo(Duration.ofMillis(1500));
            assertThat(costs.wastedRetryTime()).isEqualTo(Duration.ofMillis(500));
        }
    }

    @Test
    void a_run_that_was_lost_has_cost_its_time() {
        try (EngineFixture engine = new EngineFixture(InsightTest::shaky, InsightTest::free)) {
            AuditNote note = new AuditNote("test", null);
            engine.memory.pause("default", note);
            JobId id = engine.reprise.enqueue(WORK.job("good"));
            engine.memory.resume("default", note);
            engine.memory.claim(new ClaimRequest(
                    "victim", Duration.ofSeconds(30), 1, List.of(new ClaimRequest.Demand("default", 1)), 0.2, true));
            engine.worker.advance(Duration.ofMinutes(5));
            assertThat(engine.reprise.find(id).orElseThrow().counts().losses()).isEqualTo(1);
            Costs lost = engine.reprise.costs(Duration.ofDays(1)).error("LeaseExpired");
            assertThat(lost.retries()).isEqualTo(1);
            assertThat(lost.wastedRetryTime()).isGreaterThanOrEqualTo(Duration.ofSeconds(30));
            assertThat(engine.reprise.costs(Duration.ofDays(1)).jobs()).isEqualTo(1);
        }
    }

    @Test
    void a_success_says_when_the_job_first_failed() {
        EngineFixture[] self = new EngineFixture[1];
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            self[0].clock.advance(Duration.ofMillis(500));
            shaky(payload, job);
        })) {
            self[0] = engine;
            run(engine, "good", 1);
            JobEvent success = engine.events.get(engine.events.size() - 1);
            assertThat(success.kind()).isEqualTo(JobEvent.Kind.SUCCEEDED);
            Instant failed = engine.reprise.attempts(success.id()).get(0).endedAt();
            assertThat(success.firstFailedAt()).isEqualTo(failed).isAfter(success.firstDueAt());
            assertThat(engine.events)
                    .filteredOn(event -> event.kind() != JobEvent.Kind.SUCCEEDED)
                    .allSatisfy(event -> assertThat(event.firstFailedAt()).isNull());
        }
    }

    @Test
    void a_success_says_so_too_if_another_worker_saw_the_failure() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            AuditNote note = new AuditNote("test", null);
            engine.memory.pause("default", note);
            JobId id = engine.reprise.enqueue(WORK.job("good"));
            engine.memory.resume("default", note);
            long token = engine.memory
                    .claim(new ClaimRequest(
                            "other",
                            Duration.ofMinutes(5),
                            1,
                            List.of(new ClaimRequest.Demand("default", 1)),
                            0.2,
                            true))
                    .get(0)
                    .token();
            engine.clock.advance(Duration.ofMillis(500));
            engine.memory.settle(
                    List.of(new Settlement(
                            id,
                            token,
                            CountedAs.ATTEMPT,
                            Duration.ofMillis(500),
                            new Settlement.Wait(WaitReason.RETRY, Duration.ZERO, null),
                            Failure.of(new IOException("busy")),
                            new Decision.Retry(Duration.ZERO, Duration.ZERO, FailureClass.TRANSIENT, "io"))),
                    List.of(token));
            engine.worker.advance(Duration.ofSeconds(30));
            JobEvent success = engine.events.get(engine.events.size() - 1);
            assertThat(success.kind()).isEqualTo(JobEvent.Kind.SUCCEEDED);
            assertThat(success.firstFailedAt())
                    .isEqualTo(engine.reprise.attempts(id).get(0).endedAt());
        }
    }

    @Test
    void failures_of_before_a_replay_are_not_of_this_life() {
        boolean[] good = {false};
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            if (!good[0] || job.attempt() == 1) {
                throw new IOException("busy");
            }
        })) {
            run(engine, "x", 1);
            JobId id = engine.events.get(0).id();
            engine.clock.advance(Duration.ofHours(1));
            good[0] = true;
            engine.reprise.as("ada", null).replay(id, Replay.FRESH);
            engine.worker.advance(Duration.ofSeconds(30));
            JobEvent success = engine.events.get(engine.events.size() - 1);
            assertThat(success.kind()).isEqualTo(JobEvent.Kind.SUCCEEDED);
            assertThat(success.firstFailedAt()).isAfterOrEqualTo(engine.start.plus(Duration.ofHours(1)));
        }
    }

    @Test
    void every_view_of_a_job_that_failed_predicts_its_next_attempt() {
        try (EngineFixture engine = new EngineFixture(InsightTest::shaky, InsightTest::free)) {
            run(engine, "good", 30);
            run(engine, "bad", 10);
            JobId id = engine.reprise.enqueue(WORK.job("good").retry(EXACT.maxAttempts(2)));
            engine.worker.advance(Duration.ofMillis(10));
            Prediction prediction = Objects.requireNonNull(
                    engine.reprise.find(id).orElseThrow().status().prediction());
            assertThat(prediction.probability()).isCloseTo(0.75, within(0.001));
            assertThat(prediction.tries()).isCloseTo(40, within(0.1));
            assertThat(prediction.low()).isLessThan(0.75);
            assertThat(prediction.high()).isGreaterThan(0.75);
            assertThat(engine.reprise
                            .find(JobQuery.all().state(JobState.PENDING))
                            .items())
                    .extracting(job -> job.status().prediction())
                    .containsExactly(prediction);
            assertThat(engine.reprise.explain(id).prediction()).isEqualTo(prediction);
            assertThat(Objects.requireNonNull(lastDecision(engine, id).prediction())
                            .probability())
                    .isCloseTo(0.75, within(0.001));
            assertThat(engine.reprise
                            .find(JobQuery.all().state(JobState.SUCCEEDED))
                            .items())
                    .allSatisfy(job -> assertThat(job.status().prediction()).isNull());
        }
    }

    @Test
    void a_bad_cost_is_refused() {
        List<String> messages = new ArrayList<>();
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            assertThatIllegalArgumentException().isThrownBy(() -> job.cost(-1, "usd"));
            assertThatIllegalArgumentException().isThrownBy(() -> job.cost(Double.NaN, "usd"));
            assertThatIllegalArgumentException().isThrownBy(() -> job.cost(1, "no name"));
            assertThatIllegalArgumentException().isThrownBy(() -> job.cost(1, "seconds"));
            for (int i = 0; i < 8; i++) {
                job.cost(1, "unit-" + i);
            }
            assertThatIllegalArgumentException().isThrownBy(() -> job.cost(1, "ninth"));
            messages.add("done");
        })) {
            engine.reprise.enqueue(WORK.job("x"));
            engine.worker.runDue();
            assertThat(messages).containsExactly("done");
        }
    }

    @Test
    void workers_report_while_they_live() {
        EngineFixture engine = new EngineFixture(
                (payload, job) -> {}, builder -> builder.name("ada").queues(Queue.of("default"), Queue.of("mail")));
        engine.worker.advance(Duration.ofMinutes(1));
        List<WorkerState> workers = engine.reprise.workers();
        assertThat(workers).hasSize(1);
        assertThat(workers.get(0).name()).isEqualTo("ada");
        assertThat(workers.get(0).report().queues()).containsExactly("default", "mail");
        assertThat(workers.get(0).report().types()).containsExactly("work");
        assertThat(workers.get(0).since()).isEqualTo(engine.start);
        assertThat(Duration.between(workers.get(0).seenAt(), engine.clock.instant()))
                .isLessThanOrEqualTo(Duration.ofSeconds(10));
        engine.close();
        assertThat(engine.memory.workers()).isEmpty();
    }

    @Test
    void nothing_is_told_when_there_is_nothing_to_tell() {
        List<String> calls = new ArrayList<>();
        try (EngineFixture engine =
                new EngineFixture((payload, job) -> {}, builder -> builder, store -> Spy.on(store, calls))) {
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(calls).doesNotContain("addCounts");
            calls.clear();
            for (int i = 0; i < 500; i++) {
                engine.reprise.enqueue(WORK.job("x"));
            }
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(calls.stream().filter("addCounts"::equals)).hasSize(1);
            assertThat(calls).doesNotContain("evidence");
        }
    }

    @Test
    void a_tally_that_could_not_be_written_is_written_later() {
        FaultyStore faults = new FaultyStore();
        faults.failBefore("addCounts", 2);
        try (EngineFixture engine = new EngineFixture(InsightTest::shaky, InsightTest::free, faults::wrap)) {
            run(engine, "good", 10);
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.reprise.costs(Duration.ZERO).saved()).isEqualTo(10);
        }
    }
}
