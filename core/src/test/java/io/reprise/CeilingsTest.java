// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.reprise.control.BudgetSettings;
import io.reprise.control.ControlSettings;
import io.reprise.failure.FailureClass;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobChange;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSignal;
import io.reprise.job.JobState;
import io.reprise.job.WaitReason;
import io.reprise.remote.RemoteLease;
import io.reprise.remote.RemoteReport;
import io.reprise.retry.FailReason;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import io.reprise.settings.CeilingException;
import io.reprise.settings.FleetSettings;
import io.reprise.settings.SettingsBook;
import io.reprise.store.Document;
import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ceilings and budgets that an operator sets while the fleet runs. */
class CeilingsTest {

    private static final Duration FOLLOWED = Duration.ofSeconds(5);
    private static final RetryPolicy EVERY_SECOND =
            RetryPolicy.fixed(Duration.ofSeconds(1)).jitter(Jitter.none());
    private static final JobHandler<String> FAILING = (payload, job) -> {
        throw new IOException("busy");
    };

    private static void put(JobStore store, String json) {
        SettingsBook book = new SettingsBook(store);
        assertThat(book.replace(book.read(), FleetSettings.fromJson(json), new AuditNote("ada", "test")))
                .isPresent();
    }

    private static EngineFixture failing() {
        return new EngineFixture(FAILING, builder -> builder.retry(EVERY_SECOND).control(ControlSettings.off()));
    }

    @Test
    void no_policy_is_above_the_ceilings_and_unlimited_obeys_them() {
        try (EngineFixture engine = failing()) {
            put(engine.memory, """
                    {"defaults":{"ceilings":{"maxAttempts":5,"deadline":"2h"}},
                     "queues":{"vip":{"ceilings":{"maxAttempts":50}}}}
                    """);
            engine.worker.advance(FOLLOWED);
            RetryPolicy endless = RetryPolicy.unset().unlimited().noDeadline();
            Job job = engine.job(
                    engine.reprise.enqueue(WORK.job("x").retry(endless).after(Duration.ofMinutes(1))));
            assertThat(job.maxAttempts()).hasValue(5);
            assertThat(job.times().deadline())
                    .isEqualTo(job.times().firstDueAt().plus(Duration.ofHours(2)));
            Job vip =
                    engine.job(engine.reprise.enqueue(WORK.job("x").queue("vip").retry(endless)));
            assertThat(vip.maxAttempts()).as("the queue's own ceiling").hasValue(50);
            assertThat(vip.policy().deadline().toOptional()).contains(Duration.ofHours(2));
            RetryPolicy modest = RetryPolicy.unset().maxAttempts(3).deadline(Duration.ofHours(1));
            Job below = engine.job(engine.reprise.enqueue(WORK.job("x").retry(modest)));
            assertThat(below.maxAttempts()).hasValue(3);
            assertThat(below.policy().deadline().toOptional()).contains(Duration.ofHours(1));
        }
    }

    @Test
    void jobs_that_were_stored_before_obey_a_ceiling_too() {
        try (EngineFixture engine = failing()) {
            JobId id = engine.reprise.enqueue(
                    WORK.job("x").retry(RetryPolicy.unset().unlimited()));
            engine.worker.runDue();
            put(engine.memory, "{\"defaults\":{\"ceilings\":{\"maxAttempts\":4}}}");
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.EXHAUSTED);
            assertThat(engine.job(id).attempts()).isBetween(4, 7);
        }
    }

    @Test
    void a_branch_obeys_a_ceiling() {
        RetryPolicy policy = RetryPolicy.unset()
                .maxAttempts(3)
                .on(FailureClass.THROTTLED)
                .unlimited()
                .policy();
        RetryPolicy within = policy.complete().within(10, null);
        assertThat(within.maxAttempts().toOptional()).contains(3);
        assertThat(within.branches().get(0).retry().maxAttempts().toOptional()).contains(10);
        assertThat(policy.complete().within(null, null)).isEqualTo(policy.complete());
    }

    @Test
    void a_full_queue_refuses_until_workers_have_caught_up() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            put(engine.memory, """
                    {"queues":{"small":{"ceilings":{"queueDepth":3}}}}
                    """);
            engine.worker.advance(FOLLOWED);
            for (int i = 0; i < 3; i++) {
                engine.reprise.enqueue(WORK.job("x").queue("small").after(Duration.ofMinutes(1)));
            }
            engine.reprise.enqueue(WORK.job("other queues have no ceiling"));
            assertThatThrownBy(() -> engine.reprise.enqueue(WORK.job("x").queue("small")))
                    .isInstanceOfSatisfying(CeilingException.class, full -> {
                        assertThat(full.kind()).isEqualTo(CeilingException.Kind.DEPTH);
                        assertThat(full.value()).isEqualTo(4);
                        assertThat(full.ceiling()).isEqualTo(3);
                        assertThat(full.retryAfter()).isPositive();
                    })
                    .hasMessageContaining("Queue 'small' would hold 4 jobs but must hold at most 3");
            // A caller that lost the answer gets it, though the queue is full meanwhile. What is new is refused, with
            // all beside it.
            JobRequest<String> repeated = WORK.job("x").queue("small").idempotencyKey("once");
            JobRequest<String> fresh = WORK.job("x").queue("small").idempotencyKey("twice");
            engine.reprise
                    .as("ada", "room")
                    .all(JobQuery.all().queue("small"))
                    .limit(1)
                    .cancel();
            engine.worker.advance(FOLLOWED);
            JobId first = engine.reprise.enqueue(repeated.after(Duration.ofMinutes(1)));
            assertThat(engine.reprise.enqueue(repeated)).isEqualTo(first);
            assertThat(engine.reprise.enqueueAll(List.of(repeated, repeated))).containsExactly(first, first);
            assertThatThrownBy(() -> engine.reprise.enqueueAll(List.of(repeated, fresh)))
                    .isInstanceOf(CeilingException.class);
            engine.reprise
                    .as("ada", "room")
                    .all(JobQuery.all().queue("small"))
                    .limit(1)
                    .cancel();
            engine.worker.advance(FOLLOWED);
            engine.reprise.enqueue(WORK.job("x").queue("small").after(Duration.ofMinutes(1)));
            List<JobRequest<String>> two =
                    List.of(WORK.job("a").queue("small"), WORK.job("b").queue("small"));
            assertThatThrownBy(() -> engine.reprise.enqueueAll(two)).isInstanceOf(CeilingException.class);
        }
    }

    @Test
    void needs_do_not_lead_past_the_ceilings_of_a_queue() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            put(engine.memory, """
                    {"queues":{"small":{"ceilings":{"queueDepth":1,"payloadBytes":100}}}}
                    """);
            engine.worker.advance(FOLLOWED);
            JobRequest<String> picky = WORK.job("x").queue("small").needs("gpu");
            engine.reprise.enqueue(picky);
            assertThatThrownBy(() -> engine.reprise.enqueue(picky)).isInstanceOf(CeilingException.class);
            assertThatThrownBy(() -> engine.reprise.enqueue(
                            WORK.job("a".repeat(200)).queue("small").needs("eu")))
                    .isInstanceOfSatisfying(
                            CeilingException.class,
                            refusal -> assertThat(refusal.kind()).isEqualTo(CeilingException.Kind.PAYLOAD));
        }
    }

    @Test
    void a_payload_above_the_ceiling_is_refused() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            put(engine.memory, "{\"defaults\":{\"ceilings\":{\"payloadBytes\":100}}}");
            engine.worker.advance(FOLLOWED);
            engine.reprise.enqueue(WORK.job("a".repeat(90)));
            assertThatThrownBy(() -> engine.reprise.enqueue(WORK.job("ä".repeat(90))))
                    .isInstanceOfSatisfying(
                            CeilingException.class,
                            refusal -> assertThat(refusal.kind()).isEqualTo(CeilingException.Kind.PAYLOAD))
                    .hasMessageContaining("bytes but must be at most 100");
        }
    }

    @Test
    void the_ceilings_of_a_queue_hold_for_its_jobs_with_needs() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            put(engine.memory, """
                    {"queues":{"small":{"ceilings":{"queueDepth":2,"payloadBytes":100}}}}
                    """);
            engine.worker.advance(FOLLOWED);
            JobRequest<String> job = WORK.job("x").queue("small");
            engine.reprise.enqueue(job.needs("gpu"));
            engine.reprise.enqueue(job.needs("eu"));
            assertThatThrownBy(() -> engine.reprise.enqueue(job.needs("gpu", "eu")))
                    .isInstanceOf(CeilingException.class)
                    .hasMessageContaining("Queue 'small' would hold 3 jobs but must hold at most 2");
            assertThatThrownBy(() -> engine.reprise.enqueue(
                            WORK.job("x".repeat(200)).queue("small").needs("gpu")))
                    .isInstanceOf(CeilingException.class)
                    .hasMessageContaining("bytes but must be at most 100");
        }
    }

    @Test
    void every_way_into_a_full_queue_is_refused() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            throw JobSignal.fail("dead");
        })) {
            JobId dead = engine.reprise.enqueue(WORK.job("dead").queue("small"));
            JobId other = engine.reprise.enqueue(WORK.job("other").after(Duration.ofHours(1)));
            engine.worker.advance(Duration.ofSeconds(1));
            put(engine.memory, """
                    {"queues":{"small":{"ceilings":{"queueDepth":1}}}}
                    """);
            engine.worker.advance(FOLLOWED);
            JobRequest<String> waits = WORK.job("x").queue("small").after(Duration.ofHours(1));
            JobId only = engine.reprise.enqueue(waits);
            Operations ada = engine.reprise.as("ada", null);
            ada.retry(only, ManualRetry.NOW.at(engine.clock.instant().plusSeconds(3_600)));
            List<ThrowingCallable> ways = List.of(
                    () -> ada.retry(dead, ManualRetry.NOW.forced()),
                    () -> ada.replay(dead, Replay.FRESH),
                    () -> ada.change(other, JobChange.NONE.toQueue("small")),
                    () -> engine.reprise.enqueue(WORK.job("first").then(waits)));
            assertThat(ways)
                    .allSatisfy(way -> assertThatThrownBy(way)
                            .isInstanceOfSatisfying(
                                    CeilingException.class,
                                    full -> assertThat(full.kind()).isEqualTo(CeilingException.Kind.DEPTH)));
            assertThat(ada.all(JobQuery.deadLetters()).replay(Replay.FRESH).refused())
                    .containsEntry(dead, "Job " + dead + " stays: the queue is full with 1 jobs");
            assertThat(ada.all(JobQuery.all().queue("default").state(JobState.PENDING))
                            .change(JobChange.NONE.toQueue("small"))
                            .refused())
                    .containsOnlyKeys(other);
            assertThat(engine.job(dead).state()).isEqualTo(JobState.FAILED);
            assertThat(engine.job(other).queue()).isEqualTo("default");

            ada.cancel(only);
            engine.worker.advance(FOLLOWED);
            ada.replay(dead, Replay.FRESH);
        }
    }

    @Test
    void a_schedule_skips_firings_into_a_full_queue_and_goes_on_when_there_is_room() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            put(engine.memory, """
                    {"queues":{"small":{"ceilings":{"queueDepth":1}}}}
                    """);
            engine.worker.advance(FOLLOWED);
            JobId only = engine.reprise.enqueue(WORK.job("x").queue("small").after(Duration.ofDays(1)));
            engine.reprise.schedule(Schedule.every(
                    "minutely", Duration.ofMinutes(1), WORK.job("fired").queue("small")));
            engine.worker.advance(Duration.ofMinutes(5));
            assertThat(engine.ran).isEmpty();
            assertThatThrownBy(() -> engine.reprise.as("ada", null).trigger("minutely"))
                    .isInstanceOf(CeilingException.class);
            engine.reprise.as("ada", null).cancel(only);
            engine.worker.advance(Duration.ofMinutes(3));
            assertThat(engine.ran).contains("fired");
        }
    }

    @Test
    void a_schedule_that_must_not_lose_firings_waits_for_room() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            put(engine.memory, """
                    {"queues":{"small":{"ceilings":{"queueDepth":1}}}}
                    """);
            engine.worker.advance(FOLLOWED);
            JobId only = engine.reprise.enqueue(WORK.job("x").queue("small").after(Duration.ofDays(1)));
            engine.reprise.schedule(Schedule.every(
                            "minutely", Duration.ofMinutes(1), WORK.job("fired").queue("small"))
                    .missed(Schedule.MissedFire.ALL));
            engine.worker.advance(Duration.ofMinutes(10));
            assertThat(engine.ran).isEmpty();
            engine.reprise.as("ada", null).cancel(only);
            engine.worker.advance(Duration.ofMinutes(10));
            assertThat(engine.ran).as("ten that waited, and ten more").hasSizeBetween(19, 20);
        }
    }

    @Test
    void a_job_that_follows_comes_into_a_full_queue_too() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            put(engine.memory, """
                    {"queues":{"small":{"ceilings":{"queueDepth":1}}}}
                    """);
            engine.worker.advance(FOLLOWED);
            engine.reprise.enqueue(WORK.job("first")
                    .after(Duration.ofMinutes(1))
                    .then(WORK.job("second").queue("small")));
            // Until it counts again, the process has room in mind for the job that follows.
            engine.worker.advance(FOLLOWED);
            JobRequest<String> late = WORK.job("late").queue("small").after(Duration.ofDays(1));
            engine.reprise.enqueue(late);
            assertThatThrownBy(() -> engine.reprise.enqueue(late)).isInstanceOf(CeilingException.class);
            engine.worker.advance(Duration.ofMinutes(2));
            assertThat(engine.ran).containsExactly("first", "second");
        }
    }

    @Test
    void no_payload_above_the_ceiling_is_stored_in_any_way() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            throw JobSignal.fail("dead");
        })) {
            put(engine.memory, "{\"defaults\":{\"ceilings\":{\"payloadBytes\":100}}}");
            JobId dead = engine.reprise.enqueue(WORK.job("dead"));
            engine.worker.advance(FOLLOWED);
            JobId waits = engine.reprise.enqueue(WORK.job("x").after(Duration.ofHours(1)));
            Operations ada = engine.reprise.as("ada", null);
            String large = '"' + "a".repeat(200) + '"';
            List<ThrowingCallable> ways = List.of(
                    () -> ada.change(waits, JobChange.NONE.withPayload(large)),
                    () -> ada.replay(dead, Replay.FRESH.withPayload(large)),
                    () -> engine.reprise.schedule(Schedule.every("s", Duration.ofHours(1), WORK.job(large))),
                    () -> engine.reprise.schedule(Schedule.every(
                            "s", Duration.ofHours(1), WORK.job("first").then(WORK.job(large)))));
            assertThat(ways)
                    .allSatisfy(way -> assertThatThrownBy(way)
                            .isInstanceOfSatisfying(
                                    CeilingException.class,
                                    refusal -> assertThat(refusal.kind()).isEqualTo(CeilingException.Kind.PAYLOAD)));
            assertThat(engine.reprise.schedules()).isEmpty();
            assertThat(engine.job(waits).spec().payload()).doesNotContain("aaaa");
        }
    }

    @Test
    void a_text_that_is_not_json_is_stored_nowhere() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            throw JobSignal.fail("dead");
        })) {
            JobId dead = engine.reprise.enqueue(WORK.job("dead"));
            engine.worker.advance(FOLLOWED);
            JobId waits = engine.reprise.enqueue(WORK.job("x").after(Duration.ofHours(1)));
            Operations ada = engine.reprise.as("ada", null);
            List<ThrowingCallable> ways = List.of(
                    () -> engine.reprise.tellJson(waits, "go", "JSON", "{oops"),
                    () -> engine.reprise.tellJson(waits, "go", "JSON", null),
                    () -> ada.change(waits, JobChange.NONE.withPayload("{oops")),
                    () -> ada.replay(dead, Replay.FRESH.withPayload("{oops")),
                    () -> ada.finishStep(dead, "step", "{oops"),
                    () -> RemoteReport.completed(new RemoteLease.Key(1, waits, false), "{oops"));
            assertThat(ways).allSatisfy(way -> assertThatThrownBy(way).isInstanceOf(IllegalArgumentException.class));
            assertThat(engine.reprise.steps(waits)).isEmpty();
            assertThat(engine.reprise.tellJson(waits, "go", "JSON", "null")).isTrue();
        }
    }

    @Test
    void a_policy_above_a_ceiling_is_named() {
        FleetSettings fleet = FleetSettings.fromJson("""
                {"defaults":{"ceilings":{"maxAttempts":10,"deadline":"1h"}},
                 "types":{"bill":{"policy":{"maxAttempts":null}}},
                 "queues":{"slow":{"policy":{"maxAttempts":11,"deadline":"2h"}},"fine":{"policy":{"maxAttempts":9}}}}
                """);
        assertThat(fleet.warnings(Map.of("type 'mail'", RetryPolicy.unset().noDeadline())))
                .containsExactly(
                        "The ceiling maxAttempts 10 is below the policy of type 'bill', which asks for unlimited: jobs get 10",
                        "The ceiling deadline PT1H is below the policy of type 'mail', which asks for none: jobs get PT1H",
                        "The ceiling maxAttempts 10 is below the policy of queue 'slow', which asks for 11: jobs get 10",
                        "The ceiling deadline PT1H is below the policy of queue 'slow', which asks for PT2H: jobs get PT1H");
    }

    private static String refusal(SettingsBook book, String json) {
        SettingsBook.Page before = book.read();
        Throwable refused =
                catchThrowable(() -> book.replace(before, FleetSettings.fromJson(json), new AuditNote("ada", null)));
        assertThat(refused).isInstanceOf(IllegalArgumentException.class);
        assertThat(book.read()).as("nothing is stored").isEqualTo(before);
        return String.valueOf(refused.getMessage());
    }

    @Test
    void a_ceiling_below_a_policy_of_the_same_settings_is_refused_and_nothing_is_stored() {
        SettingsBook book = new SettingsBook(new InMemoryJobStore(new ManualClock()));
        assertThat(refusal(book, """
                {"defaults":{"ceilings":{"maxAttempts":10,"deadline":"1h"},"policy":{"maxAttempts":11}},
                 "types":{"bill":{"policy":{"maxAttempts":10,"deadline":"2h"}}},
                 "queues":{"slow":{"policy":{"maxAttempts":4},"ceilings":{"maxAttempts":3}}},
                 "resources":{"smtp":{"policy":{"branches":[{"on":{"classes":["THROTTLED"]},"maxAttempts":50}]}}}}
                """)).isEqualTo("""
                defaults: policy.maxAttempts is 11 but must be at most 10, which is the ceiling; \
                resources/smtp: policy.maxAttempts is 50 on THROTTLED but must be at most 10, which is the ceiling; \
                types/bill: policy.deadline is PT2H but must be at most PT1H, which is the ceiling; \
                queues/slow: policy.maxAttempts is 4 but must be at most 3, which is the ceiling\
                : change the policy or the ceiling""");
    }

    @Test
    void unlimited_and_a_queue_with_a_higher_ceiling_contradict_nothing() {
        put(new InMemoryJobStore(new ManualClock()), """
                {"defaults":{"ceilings":{"maxAttempts":10,"deadline":"1h"}},
                 "types":{"bill":{"policy":{"maxAttempts":null,"deadline":null}},"vip":{"policy":{"maxAttempts":50}}},
                 "queues":{"low":{"ceilings":{"maxAttempts":3}},"high":{"ceilings":{"maxAttempts":50}}}}
                """);
    }

    @Test
    void a_ceiling_below_a_named_policy_is_refused_unless_the_policy_is_a_tenants() {
        InMemoryJobStore store = new InMemoryJobStore(new ManualClock());
        SettingsBook book = new SettingsBook(store);
        store.putDocument(new Document("policy", "acme/gold", 0, "{\"policy\":{\"maxAttempts\":99}}"));
        store.putDocument(new Document("policy", "gold", 0, "{\"policy\":{\"maxAttempts\":20}}"));
        store.putDocument(new Document("policy", "newer", 0, "{\"policy\":{\"unheardOf\":1}}"));
        assertThat(refusal(book, "{\"defaults\":{\"ceilings\":{\"maxAttempts\":19}}}"))
                .startsWith("policy 'gold'.maxAttempts is 20 but must be at most 19, which is the ceiling");
        put(store, "{\"defaults\":{\"ceilings\":{\"maxAttempts\":20}}}");
        book.requireWithin("policy 'gold'", RetryPolicy.unset().maxAttempts(20));
        book.requireWithin("policy 'gold'", RetryPolicy.unset().unlimited());
        assertThatThrownBy(() ->
                        book.requireWithin("policy 'gold'", RetryPolicy.unset().maxAttempts(21)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("policy 'gold'.maxAttempts is 21 but must be at most 20, which is the ceiling:"
                        + " change the policy or the ceiling");
    }

    @Test
    void a_contradiction_that_is_there_already_is_warned_of_and_hinders_no_other_change() {
        InMemoryJobStore store = new InMemoryJobStore(new ManualClock());
        SettingsBook book = new SettingsBook(store);
        put(store, "{\"defaults\":{\"ceilings\":{\"maxAttempts\":10}}}");
        store.putDocument(new Document("policy", "gold", 0, "{\"policy\":{\"maxAttempts\":20}}"));
        put(store, "{\"defaults\":{\"ceilings\":{\"maxAttempts\":10},\"retries\":false}}");
        assertThat(book.warnings())
                .containsExactly("The ceiling maxAttempts 10 is below the policy of name 'gold', which asks for 20:"
                        + " jobs get 10");
        assertThat(refusal(book, "{\"defaults\":{\"ceilings\":{\"maxAttempts\":9}}}"))
                .contains("is 20 but must be at most 9");
    }

    @Test
    void ceilings_and_budgets_survive_their_text() {
        String json = "{\"defaults\":{\"budget\":{\"enabled\":true,\"capacity\":100,\"floor\":2,\"overflow\":\"fail\"},"
                + "\"ceilings\":{\"maxAttempts\":5,\"deadline\":\"PT2H\",\"payloadBytes\":1000,\"queueDepth\":10}},"
                + "\"types\":{\"bill\":{\"budget\":{\"enabled\":true,\"retries\":3,\"per\":\"PT1H\",\"overflow\":\"fail\"}}},"
                + "\"queues\":{\"q\":{\"ceilings\":{\"queueDepth\":7},\"order\":\"priority\"}}}";
        assertThat(FleetSettings.fromJson(json).toJson()).isEqualTo(json);
        assertThat(FleetSettings.fromJson(FleetSettings.fromJson(json).toJson()))
                .isEqualTo(FleetSettings.fromJson(json));
        assertThatThrownBy(() -> FleetSettings.fromJson("{\"types\":{\"b\":{\"budget\":{\"retries\":3}}}}"))
                .hasMessageContaining("given together with per");
        assertThatThrownBy(() -> FleetSettings.fromJson("{\"types\":{\"b\":{\"budget\":{\"overflow\":\"hope\"}}}}"))
                .hasMessageContaining("budget.overflow is hope but must be wait or fail");
        assertThatThrownBy(() -> FleetSettings.fromJson("{\"queues\":{\"q\":{\"order\":\"luck\"}}}"))
                .hasMessageContaining("order is luck but must be share, priority or creation");
        assertThatThrownBy(() -> FleetSettings.fromJson("{\"defaults\":{\"ceilings\":{\"queueDepth\":0}}}"))
                .hasMessageContaining("ceilings.queueDepth is 0 but must be 1 to 100000000");
        assertThatThrownBy(() -> FleetSettings.fromJson(
                        "{\"types\":{\"b\":{\"budget\":{\"retries\":3,\"per\":\"1h\",\"floor\":2}}}}"))
                .hasMessageContaining("budget.floor is 2.0 but must be left out");
    }

    private static List<JobId> enqueue(EngineFixture engine, int count) {
        List<JobId> ids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ids.add(engine.reprise.enqueue(WORK.job("x")));
        }
        return ids;
    }

    @Test
    void a_plain_budget_of_a_type_lets_so_many_retries_through_and_the_rest_waits() {
        try (EngineFixture engine = new EngineFixture(FAILING, builder -> builder.retry(EVERY_SECOND.maxAttempts(2)))) {
            put(engine.memory, "{\"types\":{\"work\":{\"budget\":{\"retries\":3,\"per\":\"1h\"}}}}");
            engine.worker.advance(FOLLOWED);
            List<JobId> ids = enqueue(engine, 10);
            engine.worker.advance(Duration.ofMinutes(10));
            assertThat(ids.stream().map(engine::job).filter(job -> job.state() == JobState.FAILED))
                    .as("retried, and spent their second attempt")
                    .hasSize(3);
            assertThat(ids.stream().map(engine::job).filter(job -> job.status().waitReason() == WaitReason.BUDGET))
                    .hasSize(7);
            engine.worker.advance(Duration.ofHours(1));
            assertThat(ids.stream().map(engine::job).filter(job -> job.state() == JobState.FAILED))
                    .as("three more in an hour")
                    .hasSizeBetween(6, 7);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"share", "priority", "creation"})
    void a_budget_of_code_holds_in_every_order_of_the_queue(String order) {
        FleetSettings settings = FleetSettings.fromJson("{\"queues\":{\"default\":{\"order\":\"" + order
                + "\"}},\"types\":{\"work\":{\"budget\":{\"retries\":3,\"per\":\"1h\"}}}}");
        try (EngineFixture engine = new EngineFixture(
                FAILING, builder -> builder.retry(EVERY_SECOND.maxAttempts(2)).fleetSettings(settings))) {
            List<JobId> ids = enqueue(engine, 10);
            engine.worker.advance(Duration.ofMinutes(10));
            assertThat(ids.stream().map(engine::job).filter(job -> job.state() == JobState.FAILED))
                    .hasSize(3);
            assertThat(ids.stream().map(engine::job).filter(job -> job.status().waitReason() == WaitReason.BUDGET))
                    .hasSize(7);
        }
    }

    @Test
    void a_budget_that_fails_gives_the_reason() {
        try (EngineFixture engine = new EngineFixture(FAILING, builder -> builder.retry(EVERY_SECOND.maxAttempts(5)))) {
            put(
                    engine.memory,
                    "{\"types\":{\"work\":{\"budget\":{\"retries\":2,\"per\":\"1d\",\"overflow\":\"fail\"}}}}");
            engine.worker.advance(FOLLOWED);
            List<JobId> ids = enqueue(engine, 6);
            engine.worker.advance(Duration.ofMinutes(5));
            assertThat(ids.stream().map(engine::job))
                    .allSatisfy(job -> assertThat(job.failReason()).isEqualTo(FailReason.BUDGET));
            assertThat(ids.stream().map(engine::job).mapToInt(Job::attempts).sum())
                    .isEqualTo(8);
            JobId one = ids.get(0);
            engine.reprise.as("ada", "again").retry(one, ManualRetry.NOW);
            assertThat(engine.job(one).state()).isEqualTo(JobState.PENDING);
        }
    }

    @Test
    void a_rate_is_a_capacity_and_a_floor() {
        BudgetSettings hourly = BudgetSettings.OF_RESOURCE.rate(100, Duration.ofHours(1));
        assertThat(hourly.capacity()).isEqualTo(1_400);
        assertThat(hourly.floor()).isEqualTo(100 / 3_600.0);
        assertThat(hourly.capacity(500).rate()).isNull();
    }
}
