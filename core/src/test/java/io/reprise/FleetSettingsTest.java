// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.control.ControlSettings;
import io.reprise.insight.Alert;
import io.reprise.insight.AlertRules;
import io.reprise.insight.JobEvent;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.retry.FailReason;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import io.reprise.settings.FleetSettings;
import io.reprise.settings.SettingsBook;
import io.reprise.store.ClaimRequest;
import io.reprise.store.Document;
import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Settings in the store apply to every worker while it runs. */
class FleetSettingsTest {

    /** Every worker follows a change within this time. */
    private static final Duration FOLLOWED = Duration.ofSeconds(5);

    private static final JobHandler<String> FAILING = (payload, job) -> {
        throw new IOException("busy");
    };

    private static void put(JobStore store, String json) {
        SettingsBook book = new SettingsBook(store);
        assertThat(book.replace(book.read(), FleetSettings.fromJson(json), new AuditNote("ada", "test")))
                .isPresent();
    }

    private static int maxAttempts(EngineFixture engine, JobRequest<String> job) {
        return engine.job(engine.reprise.enqueue(job)).maxAttempts().orElseThrow();
    }

    @Test
    void policies_of_the_store_apply_within_five_seconds_layer_by_layer() {
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {},
                builder -> builder.retry(RetryPolicy.unset().maxAttempts(2))
                        .resources(Resource.of("mail").retry(RetryPolicy.unset().maxAttempts(4)))
                        .queues(
                                Queue.of("default"),
                                Queue.of("slow").retry(RetryPolicy.unset().maxAttempts(3))))) {
            assertThat(maxAttempts(engine, WORK.job("x"))).isEqualTo(2);
            put(engine.memory, """
                    {"defaults":{"policy":{"maxAttempts":12}},
                     "queues":{"slow":{"policy":{"maxAttempts":13}}},
                     "resources":{"mail":{"policy":{"maxAttempts":14}}}}
                    """);
            engine.worker.advance(FOLLOWED);
            assertThat(maxAttempts(engine, WORK.job("x"))).isEqualTo(12);
            assertThat(maxAttempts(engine, WORK.job("x").queue("slow"))).isEqualTo(13);
            assertThat(maxAttempts(engine, WORK.job("x").queue("slow").resource("mail")))
                    .isEqualTo(14);
            put(engine.memory, "{\"types\":{\"work\":{\"policy\":{\"maxAttempts\":15}}}}");
            engine.worker.advance(FOLLOWED);
            assertThat(maxAttempts(engine, WORK.job("x").resource("mail"))).isEqualTo(15);
            JobRequest<String> own = WORK.job("x").retry(RetryPolicy.unset().maxAttempts(16));
            assertThat(maxAttempts(engine, own)).as("the job's own comes first").isEqualTo(16);
            put(engine.memory, "{}");
            engine.worker.advance(FOLLOWED);
            assertThat(maxAttempts(engine, WORK.job("x").queue("slow")))
                    .as("code again")
                    .isEqualTo(3);
        }
    }

    @Test
    void a_process_that_only_enqueues_follows_too() {
        ManualClock clock = new ManualClock();
        InMemoryJobStore store = new InMemoryJobStore(clock);
        put(store, "{\"defaults\":{\"policy\":{\"maxAttempts\":9}}}");
        try (Reprise client =
                Reprise.builder().store(store).codec(new TextCodec()).start()) {
            assertThat(attempts(client)).isEqualTo(9);
        }
    }

    private static int attempts(Reprise client) {
        return client.find(client.enqueue(WORK.job("x")))
                .orElseThrow()
                .maxAttempts()
                .orElseThrow();
    }

    @Test
    void the_store_comes_before_the_file_and_the_file_before_code() {
        FleetSettings file = FleetSettings.fromJson(
                "{\"defaults\":{\"policy\":{\"maxAttempts\":5,\"deadline\":\"1h\"},\"retries\":true}}");
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {},
                builder -> builder.retry(RetryPolicy.unset().maxAttempts(2).base(Duration.ofSeconds(7)))
                        .fleetSettings(file))) {
            put(engine.memory, "{\"defaults\":{\"policy\":{\"maxAttempts\":6}}}");
            engine.worker.advance(FOLLOWED);
            RetryPolicy policy =
                    engine.job(engine.reprise.enqueue(WORK.job("x"))).policy();
            assertThat(policy.maxAttempts().toOptional()).contains(6);
            assertThat(policy.deadline().toOptional()).contains(Duration.ofHours(1));
            assertThat(policy.toJson()).contains("\"base\":\"PT7S\"");
        }
    }

    @Test
    void retries_are_switched_off_and_on() {
        RetryPolicy exact = RetryPolicy.fixed(Duration.ofSeconds(1)).jitter(Jitter.none());
        try (EngineFixture engine =
                new EngineFixture(FAILING, builder -> builder.retry(exact).control(ControlSettings.off()))) {
            put(engine.memory, "{\"defaults\":{\"retries\":false}}");
            engine.worker.advance(FOLLOWED);
            JobId off = engine.reprise.enqueue(WORK.job("x"));
            engine.worker.runDue();
            assertThat(engine.job(off).failReason()).isEqualTo(FailReason.DISABLED);
            put(engine.memory, "{\"defaults\":{\"retries\":true}}");
            engine.worker.advance(FOLLOWED);
            JobId on = engine.reprise.enqueue(WORK.job("x"));
            engine.worker.runDue();
            assertThat(engine.job(on).state()).isEqualTo(JobState.PENDING);
        }
    }

    @Test
    void the_breaker_of_a_resource_is_switched_off_and_on() {
        RetryPolicy exact = RetryPolicy.fixed(Duration.ofSeconds(1)).jitter(Jitter.none());
        JobHandler<String> down = (payload, job) -> {
            throw new ConnectException("refused");
        };
        try (EngineFixture engine = new EngineFixture(down, builder -> builder.retry(exact))) {
            put(engine.memory, "{\"resources\":{\"bank\":{\"breaker\":{\"enabled\":false}}}}");
            engine.worker.advance(FOLLOWED);
            for (int n = 0; n < 40; n++) {
                engine.reprise.enqueue(WORK.job("x").resource("bank"));
            }
            engine.worker.advance(Duration.ofSeconds(3));
            assertThat(engine.kinds()).doesNotContain(JobEvent.Kind.PARKED);
            put(engine.memory, "{\"resources\":{\"bank\":{\"breaker\":{\"streak\":5}}}}");
            engine.worker.advance(Duration.ofSeconds(20));
            assertThat(engine.kinds()).contains(JobEvent.Kind.PARKED);
        }
    }

    @Test
    void alert_rules_and_retention_follow() {
        List<Alert> told = new ArrayList<>();
        JobListener listener = new JobListener() {
            @Override
            public void onEvent(JobEvent event) {}

            @Override
            public void onAlert(Alert alert) {
                told.add(alert);
            }
        };
        try (EngineFixture engine = new EngineFixture(
                FAILING,
                builder -> builder.listener(listener)
                        .control(ControlSettings.off())
                        .alerts(AlertRules.DEFAULT.deadLetters(1_000)))) {
            put(engine.memory, "{\"defaults\":{\"alerts\":{\"deadLetters\":2},\"keepFailed\":\"10m\"}}");
            engine.worker.advance(FOLLOWED);
            List<JobId> jobs = new ArrayList<>();
            for (int n = 0; n < 3; n++) {
                jobs.add(engine.reprise.enqueue(
                        WORK.job("x").retry(RetryPolicy.unset().maxAttempts(1))));
            }
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(told).extracting(Alert::kind).contains(Alert.Kind.DEAD_LETTERS);
            assertThat(engine.job(jobs.get(0)).state()).isEqualTo(JobState.FAILED);
            engine.worker.advance(Duration.ofMinutes(11));
            assertThat(engine.reprise.find(jobs.get(0))).isEmpty();
        }
    }

    @Test
    void a_worker_claims_no_more_jobs_at_once_than_the_store_says() {
        List<Integer> asked = new ArrayList<>();
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {},
                builder -> builder.concurrency(10).queues(Queue.of("default")),
                store -> noting(store, asked))) {
            put(engine.memory, "{\"defaults\":{\"concurrency\":2}}");
            engine.worker.advance(FOLLOWED);
            asked.clear();
            engine.worker.advance(FOLLOWED);
            assertThat(asked).isNotEmpty().allMatch(jobs -> jobs == 2);
            put(engine.memory, "{\"defaults\":{\"concurrency\":50}}");
            engine.worker.advance(FOLLOWED);
            asked.clear();
            engine.worker.advance(FOLLOWED);
            assertThat(asked).as("never more than it was started with").allMatch(jobs -> jobs == 10);
        }
    }

    @Test
    void the_store_is_told_of_the_number_of_connections() {
        List<String> told = new ArrayList<>();
        try (EngineFixture engine =
                new EngineFixture((payload, job) -> {}, builder -> builder, store -> heard(store, told))) {
            put(engine.memory, "{\"defaults\":{\"pool\":20}}");
            engine.worker.advance(FOLLOWED);
            put(engine.memory, "{\"defaults\":{\"poll\":\"2s\"}}");
            engine.worker.advance(FOLLOWED);
            assertThat(told).containsExactly("null", "20", "null");
        }
    }

    private static JobStore heard(JobStore store, List<String> told) {
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    if (method.getName().equals("poolSize")) {
                        told.add(String.valueOf(args[0]));
                    }
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static JobStore noting(JobStore store, List<Integer> asked) {
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    if (args != null && args[0] instanceof ClaimRequest request) {
                        asked.add(request.max());
                    }
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
    void settings_of_a_newer_version_leave_the_old_ones_in_force() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            put(engine.memory, "{\"defaults\":{\"policy\":{\"maxAttempts\":9}}}");
            engine.worker.advance(FOLLOWED);
            Document known = engine.memory.document("settings", "fleet").orElseThrow();
            engine.memory.putDocument(known.with("{\"unheardOf\":1}"));
            engine.worker.advance(FOLLOWED);
            assertThat(maxAttempts(engine, WORK.job("x"))).isEqualTo(9);
            replace(engine.memory, known);
            engine.worker.advance(FOLLOWED);
            assertThat(maxAttempts(engine, WORK.job("x"))).isEqualTo(10);
        }
    }

    private static void replace(InMemoryJobStore store, Document known) {
        Document now = store.document(known.kind(), known.id()).orElseThrow();
        store.putDocument(now.with("{\"defaults\":{\"policy\":{\"maxAttempts\":10}}}"));
    }

    @Test
    void a_change_is_refused_if_another_came_first_and_is_audited() {
        InMemoryJobStore store = new InMemoryJobStore(new ManualClock());
        SettingsBook book = new SettingsBook(store);
        SettingsBook.Page before = book.read();
        assertThat(before.version()).isZero();
        FleetSettings settings = FleetSettings.fromJson("{\"defaults\":{\"poll\":\"2s\"}}");
        assertThat(book.replace(before, settings, new AuditNote("ada", "why"))).isPresent();
        assertThat(book.replace(before, FleetSettings.NONE, new AuditNote("bob", null)))
                .isEmpty();
        assertThat(book.read().settings()).isEqualTo(settings);
        assertThat(store.audit(null, 10)).singleElement().satisfies(entry -> {
            assertThat(entry.note().by()).isEqualTo("ada");
            assertThat(entry.action()).isEqualTo("put-settings");
        });
    }

    @Test
    void settings_survive_json() {
        FleetSettings settings = FleetSettings.fromJson("""
                {"defaults":{"policy":{"maxAttempts":5},"retries":false,"poll":"2s","concurrency":7,"pool":9,"keepFinished":"1d",
                  "keepFailed":"2d","keepAudit":"3d","alerts":{"windowMinutes":5,"retryRate":0.2,"minJobs":3,
                  "retryCount":4,"deadLetters":6,"backoff":"1m"},"breaker":{"counted":["TIMEOUT"],"streak":3},
                  "budget":{"capacity":100,"floor":2,"enabled":false}},
                 "types":{"b":{"policy":{"maxAttempts":2}},"a":{}},
                 "resources":{"r":{"breaker":{"enabled":false},"budget":{"floor":3}}}}
                """);
        assertThat(FleetSettings.fromJson(settings.toJson())).isEqualTo(settings);
        assertThat(FleetSettings.fromJson(settings.toJson()).toJson()).isEqualTo(settings.toJson());
        assertThat(FleetSettings.NONE.toJson()).isEqualTo("{}");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    {"default":{}}                                        | settings has no field "default"
                    {"defaults":{"poll":"2h"}}                            | poll is PT2H but must be PT0.01S to PT1M
                    {"defaults":{"concurrency":0}}                        | concurrency is 0 but must be 1 to 10000
                    {"defaults":{"pool":1}}                               | pool is 1 but must be 2 to 100
                    {"defaults":{"retries":"no"}}                         | retries is "no" but must be true or false
                    {"defaults":{"keepFailed":"-PT1S"}}                   | keepFailed is "-PT1S" but must be a duration
                    {"defaults":{"alerts":{"retryRate":2}}}               | retryRate must be 0 to 1, not 2.0
                    {"types":{"bill":{"policy":{"maxAttempts":0}}}}       | types/bill: maxAttempts is 0
                    {"types":{"bill":{"policy":{"unclassified":"SAD"}}}}  | types/bill: unclassified is "SAD"
                    {"resources":{"r":{"breaker":{"counted":["SAD"]}}}}   | resources/r: counted is "SAD"
                    {"resources":{"r":{"kind":"x"}}}                      | resources/r has no field "kind"
                    {"queues":{"":{}}}                                    | queues
                    """)
    void bad_settings_are_refused_with_field_value_and_bounds(String json, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FleetSettings.fromJson(json))
                .withMessageContaining(message);
    }

    @Test
    void waiting_jobs_keep_the_policy_that_they_were_enqueued_with() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            Job before = engine.job(engine.reprise.enqueue(WORK.job("x").after(Duration.ofHours(1))));
            put(engine.memory, "{\"defaults\":{\"policy\":{\"maxAttempts\":9}}}");
            engine.worker.advance(FOLLOWED);
            assertThat(engine.job(before.id()).policy()).isEqualTo(before.policy());
        }
    }
}
