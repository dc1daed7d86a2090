// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.fairness.FlowGate;
import io.reprise.fairness.FlowGate.Reached.Of;
import io.reprise.fairness.FlowLimit;
import io.reprise.fairness.GroupRules;
import io.reprise.insight.Explanation;
import io.reprise.insight.QueueLimit;
import io.reprise.insight.QueueLimit.From;
import io.reprise.job.AuditNote;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.WorkerReport;
import io.reprise.retry.RetryPolicy;
import io.reprise.settings.FleetSettings;
import io.reprise.settings.SettingsBook;
import io.reprise.store.ClaimRequest;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Limits, weights and rates of queues are changed while workers run, and explained. */
class FlowSettingsTest {

    private static final Duration FOLLOWED = Duration.ofSeconds(5);

    private static void put(JobStore store, String json) {
        SettingsBook book = new SettingsBook(store);
        assertThat(book.replace(book.read(), FleetSettings.fromJson(json), new AuditNote("ada", null)))
                .isPresent();
    }

    /** As another worker that holds these jobs. */
    private static void hold(EngineFixture engine, int jobs) {
        engine.memory.claim(new ClaimRequest(
                "other", Duration.ofDays(1), jobs, List.of(new ClaimRequest.Demand("default", jobs)), 0.2, true));
    }

    private static List<Explanation.Reason> why(EngineFixture engine, JobId id) {
        return engine.reprise.explain(id).reasons();
    }

    @Test
    void every_member_survives_its_text() {
        String json = """
                {"types":{"mail":{"concurrency":3}},
                 "queues":{"mail":{
                   "weights":{"gold-*":5},
                   "perGroup":{"*":{"running":5,"starts":100,"per":"1m","burst":20},"free":{},"in":{"inOrder":true}},
                   "perType":{"mail":{"starts":2,"per":"1s"}},
                   "rate":{"starts":500,"per":"1s"}}}}
                """;
        FleetSettings settings = FleetSettings.fromJson(json);
        assertThat(FleetSettings.fromJson(settings.toJson())).isEqualTo(settings);
        GroupRules rules = settings.queues().get("mail").rules();
        assertThat(rules.weightOf("gold-7")).isEqualTo(5);
        assertThat(rules.limitOf("tin")).isEqualTo(new FlowLimit(5, 100, Duration.ofMinutes(1), 20));
        assertThat(rules.limitOf("free")).isEqualTo(FlowLimit.NONE);
        assertThat(rules.limitOf("in")).isEqualTo(FlowLimit.inOrder());
        assertThat(rules.limitOfType("mail")).isEqualTo(FlowLimit.rate(2, Duration.ofSeconds(1)));
        assertThat(rules.rate()).isEqualTo(FlowLimit.rate(500, Duration.ofSeconds(1)));
        assertThat(settings.types().get("mail").concurrency()).isEqualTo(3);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'weights':{'gold':0}} | weight of group 'gold' must be 1 to 1000",
                "{'weights':{'a b':1}} | group 'a b' is not a name",
                "{'perGroup':{'*':{'running':0}}} | running must be 1 to 1000000",
                "{'perGroup':{'a\\u0007':{'running':1}}} | group 'a\\u0007' is not a name",
                "{'perType':{'mail*':{'running':1}}} | type 'mail*' is not a name",
                "{'rate':{'starts':10,'per':'0s'}} | time of a rate must be 1 ms to 1 day",
                "{'rate':{'starts':10}} | given together with per",
                "{'rate':{'running':10}} | must not limit what runs",
                "{'perGroup':{'*':{'walking':1}}} | walking",
                "{'perGroup':{'*':5}} | an object",
                "{'perGroup':{'*':{'inOrder':true,'running':5}}} | a group in order runs 1 job at once, not 5",
                "{'perType':{'mail':{'inOrder':true}}} | type 'mail' cannot be in order",
            })
    void a_wrong_limit_is_refused_by_name(String queue, String message) {
        String json = "{\"queues\":{\"mail\":" + queue.replace('\'', '"') + "}}";
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FleetSettings.fromJson(json))
                .withMessageContaining("queues/mail")
                .withMessageContaining(message.replace('"', '\''));
    }

    @Test
    void an_empty_rate_takes_the_rate_of_the_code_away() {
        FleetSettings settings = FleetSettings.fromJson("{\"queues\":{\"mail\":{\"rate\":{}}}}");
        assertThat(FleetSettings.fromJson(settings.toJson())).isEqualTo(settings);
        GroupRules told = Objects.requireNonNull(settings.queues().get("mail")).rules();
        GroupRules code = GroupRules.EQUAL.rate(FlowLimit.rate(1, Duration.ofHours(1)));
        assertThat(told.orElse(code).rate()).isEqualTo(FlowLimit.NONE);
        assertThat(GroupRules.EQUAL.orElse(code).rate()).isEqualTo(code.rate());
    }

    @Test
    void a_time_that_cannot_be_counted_is_refused_as_any_other() {
        for (long seconds : List.of(Long.MAX_VALUE, Long.MIN_VALUE)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> FlowLimit.rate(1, Duration.ofSeconds(seconds)))
                    .withMessageContaining("the time of a rate must be 1 ms to 1 day");
        }
    }

    @Test
    void a_burst_needs_a_rate() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FlowLimit.running(1).burst(3))
                .withMessage("this limit has no rate: burst belongs to FlowLimit.rate(...)");
    }

    @Test
    void a_burst_of_a_resource_has_no_effect_and_is_named() {
        FleetSettings fleet = FleetSettings.fromJson("""
                {"resources":{"stripe":{"rate":{"starts":5,"per":"1s","burst":2}},"mail":{"rate":{"starts":5,"per":"1s"}}}}
                """);
        assertThat(FleetSettings.fromJson(fleet.toJson()).warnings(Map.of()))
                .containsExactly("The rate of resource 'stripe' has a burst, which has no effect:"
                        + " calls are evenly spaced, but for half a second's worth. Leave it out");
    }

    @Test
    void a_limit_that_another_makes_useless_is_named() {
        GroupRules rules = GroupRules.EQUAL
                .rate(FlowLimit.rate(100, Duration.ofSeconds(1)))
                .limit("gold", FlowLimit.rate(200, Duration.ofSeconds(1)))
                .limit("tin", FlowLimit.rate(50, Duration.ofSeconds(1)))
                .type("mail", FlowLimit.rate(101, Duration.ofSeconds(1)));
        assertThat(rules.warnings("mail"))
                .containsExactly(
                        "The limit of group 'gold' in queue 'mail' allows 200 starts per PT1S,"
                                + " but the rate of the queue only 100 starts per PT1S: the limit is never reached."
                                + " Lower it, or raise the rate of the queue",
                        "The limit of type 'mail' in queue 'mail' allows 101 starts per PT1S,"
                                + " but the rate of the queue only 100 starts per PT1S: the limit is never reached."
                                + " Lower it, or raise the rate of the queue");
    }

    @Test
    void a_weight_that_a_limit_makes_useless_is_named() {
        GroupRules rules = GroupRules.EQUAL
                .weight("gold", 5)
                .weight("tin", 2)
                .weight("iron-*", 10)
                .limit("*", FlowLimit.running(9))
                .limit("gold", FlowLimit.running(3))
                .limit("tin", FlowLimit.running(2));
        assertThat(rules.warnings("mail"))
                .containsExactly(
                        "A turn of group 'gold' in queue 'mail' has 5 jobs, but at most 3 of its jobs run at once:"
                                + " the weight is never reached. Lower it, or raise the limit",
                        "A turn of group 'iron-*' in queue 'mail' has 10 jobs, but at most 9 of its jobs run at once:"
                                + " the weight is never reached. Lower it, or raise the limit");
    }

    @Test
    void a_failing_job_keeps_its_group_back_and_explain_names_it() {
        Queue queue = Queue.of("default").perGroup(FlowLimit.inOrder());
        AtomicInteger failures = new AtomicInteger(1);
        JobHandler<String> handler = (payload, job) -> {
            if (payload.equals("first") && failures.getAndDecrement() > 0) {
                throw new IllegalStateException("not now");
            }
        };
        try (EngineFixture engine = new EngineFixture(handler, builder -> builder.queues(queue))) {
            JobId first = engine.reprise.enqueue(
                    WORK.job("first").group("a").retry(RetryPolicy.fixed(Duration.ofMinutes(5))));
            JobId second = engine.reprise.enqueue(WORK.job("second").group("a"));
            engine.reprise.enqueue(WORK.job("other").group("b"));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.ran).containsExactlyInAnyOrder("first", "other");
            assertThat(why(engine, second)).containsExactly(new Explanation.WaitsForGroup("default", "a", first));
            assertThat(engine.reprise.explain(second).sentence())
                    .contains("waits for job " + first + " of its group a");
            engine.worker.advance(Duration.ofMinutes(10));
            assertThat(engine.ran).hasSize(4).endsWith("first", "second");
        }
    }

    @Test
    void a_worker_follows_a_limit_within_five_seconds_and_explain_names_it() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            engine.worker.runDue();
            put(engine.memory, "{\"queues\":{\"default\":{\"perGroup\":{\"*\":{\"running\":1}}}}}");
            engine.worker.advance(FOLLOWED);
            engine.reprise.enqueue(WORK.job("held").group("a"));
            hold(engine, 1);
            JobId waits = engine.reprise.enqueue(WORK.job("waits").group("a"));
            engine.reprise.enqueue(WORK.job("runs").group("b"));
            engine.worker.runDue();
            assertThat(engine.ran).containsExactly("runs");
            assertThat(why(engine, waits)).first().isInstanceOf(Explanation.FlowLimitReached.class);
            assertThat(engine.reprise.explain(waits).sentence())
                    .contains("the limit of group a in queue default is reached: 1 of 1 jobs are running"
                            + " (set in the settings)");
            put(engine.memory, "{}");
            engine.worker.advance(FOLLOWED);
            assertThat(engine.job(waits).state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void the_store_comes_before_code_and_an_empty_limit_takes_one_away() {
        Queue queue = Queue.of("default").perType("work", FlowLimit.running(1));
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, builder -> builder.queues(queue))) {
            engine.reprise.enqueue(WORK.job("held"));
            hold(engine, 1);
            JobId waits = engine.reprise.enqueue(WORK.job("waits"));
            engine.worker.runDue();
            assertThat(engine.reprise.explain(waits).sentence())
                    .contains("the limit of type work in queue default is reached: 1 of 1 jobs are running");
            put(engine.memory, "{\"queues\":{\"default\":{\"perType\":{\"work\":{}}}}}");
            engine.worker.advance(FOLLOWED);
            assertThat(engine.job(waits).state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void limits_are_listed_with_the_place_where_they_were_set() {
        Queue queue = Queue.of("default")
                .perGroup(FlowLimit.running(5))
                .perGroup("gold", FlowLimit.running(50))
                .rate(FlowLimit.rate(10, Duration.ofSeconds(1)));
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, builder -> builder.queues(queue))) {
            engine.worker.runDue();
            put(engine.memory, "{\"queues\":{\"default\":{\"perGroup\":{\"gold\":{\"running\":7}}}}}");
            engine.worker.advance(FOLLOWED);
            List<QueueLimit> limits = List.of(
                    new QueueLimit(Of.GROUP, "gold", FlowLimit.running(7), From.SETTINGS, 0),
                    new QueueLimit(Of.QUEUE, "", FlowLimit.rate(10, Duration.ofSeconds(1)), From.CODE, 1),
                    new QueueLimit(Of.GROUP, "*", FlowLimit.running(5), From.CODE, 1));
            assertThat(engine.reprise.limits("default")).isEqualTo(limits);
            assertThat(engine.reprise.limits("default@needs:gpu")).isEqualTo(limits);
            assertThat(engine.reprise.limits("other")).isEmpty();
            try (Reprise client = Reprise.builder()
                    .store(engine.memory)
                    .codec(new TextCodec())
                    .start()) {
                assertThat(client.limits("default")).isEqualTo(limits);
            }
        }
    }

    @Test
    void limits_in_the_code_of_a_worker_that_stopped_or_died_are_not_listed() {
        Queue queue = Queue.of("default").perType("work", FlowLimit.running(1));
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, builder -> builder.queues(queue))) {
            engine.worker.runDue();
            assertThat(engine.reprise.limits("default")).hasSize(1);
            // After three missing reports a worker counts as gone.
            engine.clock.advance(Duration.ofMinutes(1));
            assertThat(engine.reprise.limits("default")).isEmpty();
            engine.worker.advance(Duration.ofSeconds(10));
            assertThat(engine.reprise.limits("default")).hasSize(1);
            engine.reprise.stopWorker();
            assertThat(engine.memory.documents("worker-limits", 10, null).items())
                    .isEmpty();
        }
    }

    @Test
    void somebody_who_serves_no_queue_explains_limits_in_the_code_of_workers() {
        Queue queue = Queue.of("default").perType("work", FlowLimit.running(1));
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, builder -> builder.queues(queue))) {
            engine.worker.runDue();
            engine.reprise.enqueue(WORK.job("held"));
            hold(engine, 1);
            JobId waits = engine.reprise.enqueue(WORK.job("waits"));
            try (Reprise client = Reprise.builder()
                    .store(engine.memory)
                    .codec(new TextCodec())
                    .start()) {
                assertThat(client.explain(waits).sentence())
                        .contains("the limit of type work in queue default is reached: 1 of 1 jobs are running"
                                + " (set in the code)");
            }
        }
    }

    @Test
    void a_rate_is_kept_and_explain_says_until_when_it_holds() {
        Queue queue = Queue.of("default").rate(FlowLimit.rate(1, Duration.ofMinutes(1)));
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, builder -> builder.queues(queue))) {
            engine.reprise.enqueue(WORK.job("first"));
            JobId second = engine.reprise.enqueue(WORK.job("second"));
            engine.worker.runDue();
            assertThat(engine.ran).containsExactly("first");
            Explanation explanation = engine.reprise.explain(second);
            assertThat(explanation.reasons())
                    .first()
                    .isInstanceOfSatisfying(Explanation.FlowLimitReached.class, reason -> {
                        assertThat(reason.limit().of()).isEqualTo(FlowGate.Reached.Of.QUEUE);
                        assertThat(explanation.nextAt())
                                .isEqualTo(reason.limit().until())
                                .isAfter(engine.clock.instant());
                    });
            assertThat(explanation.sentence())
                    .contains("the rate of queue default is reached: 1 job in 60 s, the next in ");
            engine.worker.advance(Duration.ofMinutes(1).plusSeconds(5));
            assertThat(engine.ran).containsExactly("first", "second");
        }
    }

    @Test
    void a_worker_runs_no_more_jobs_of_a_type_than_it_is_told() {
        JobType<String> slow = JobType.of("slow", String.class);
        Deque<Consumer<@Nullable Throwable>> open = new ArrayDeque<>();
        DeferredHandler<String> begins = (payload, job, end) -> {
            open.add(end);
            return () -> {};
        };
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {},
                builder -> builder.concurrency(10)
                        .concurrency(slow, 2)
                        .queues(Queue.of("default"), Queue.of("second"))
                        .handle(slow, begins))) {
            for (int i = 0; i < 5; i++) {
                engine.reprise.enqueue(slow.job("x"));
                engine.reprise.enqueue(slow.job("x").queue("second"));
            }
            JobId free = engine.reprise.enqueue(WORK.job("y"));
            engine.worker.runDue();
            assertThat(open).hasSize(2);
            assertThat(engine.job(free).state()).isEqualTo(JobState.SUCCEEDED);
            for (int ended = 0; ended < 10; ended++) {
                open.remove().accept(null);
                engine.worker.advance(Duration.ofSeconds(2));
                assertThat(open).hasSize(Math.min(2, 9 - ended));
            }
            assertThat(engine.reprise.workers().get(0).report().full()).isEmpty();
            put(engine.memory, "{\"types\":{\"slow\":{\"concurrency\":1}}}");
            engine.worker.advance(FOLLOWED);
            engine.reprise.enqueue(slow.job("x"));
            JobId waits = engine.reprise.enqueue(slow.job("x"));
            engine.worker.runDue();
            assertThat(open).hasSize(1);
            // The worker reports every 10 seconds.
            engine.worker.advance(Duration.ofSeconds(10));
            assertThat(engine.reprise.explain(waits).reasons()).containsExactly(new Explanation.TypeFull("slow", 1));
            WorkerReport report = engine.reprise.workers().get(0).report();
            assertThat(report.full()).containsExactly("slow");
            assertThat(report.handled()).containsExactlyInAnyOrder("slow", "work");
            open.remove().accept(null);
            engine.worker.advance(Duration.ofSeconds(2));
            open.remove().accept(null);
        }
    }
}
