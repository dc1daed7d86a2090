// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.reprise.control.BreakerPhase;
import io.reprise.insight.ResourceStatus;
import io.reprise.job.AuditNote;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.retry.RetryPolicy;
import io.reprise.settings.FleetSettings;
import io.reprise.settings.SettingsBook;
import io.reprise.testing.InlineWorker;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The documented quota of a provider is kept by the whole fleet, and can be changed while it runs. */
class ResourceRateTest {

    private static final Resource STRIPE = Resource.of("stripe").rate(10, Duration.ofSeconds(1));

    private static List<JobId> enqueue(EngineFixture engine, int jobs) {
        List<JobId> ids = new ArrayList<>();
        for (int i = 0; i < jobs; i++) {
            ids.add(engine.reprise.enqueue(WORK.job("x").resource("stripe")));
        }
        return ids;
    }

    private static int startsIn(EngineFixture engine, Duration time) {
        int before = engine.ran.size();
        engine.worker.advance(time);
        return engine.ran.size() - before;
    }

    @Test
    void no_more_jobs_start_than_the_rate_allows_and_none_is_lost() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, builder -> builder.resources(STRIPE))) {
            engine.worker.advance(Duration.ofSeconds(10));
            enqueue(engine, 600);
            engine.reprise.enqueue(WORK.job("free"));
            engine.worker.runDue();
            assertThat(engine.ran).contains("free");
            startsIn(engine, Duration.ofSeconds(5));
            assertThat(startsIn(engine, Duration.ofSeconds(30))).isBetween(295, 305);
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.ran).hasSize(601);
        }
    }

    @Test
    void a_new_worker_does_not_begin_with_a_flood() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, builder -> builder.resources(STRIPE))) {
            enqueue(engine, 200);
            assertThat(startsIn(engine, Duration.ofSeconds(3))).isLessThanOrEqualTo(30 + 5);
        }
    }

    @Test
    void the_rate_is_changed_while_it_runs() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, builder -> builder.resources(STRIPE))) {
            enqueue(engine, 2_000);
            engine.worker.advance(Duration.ofSeconds(10));
            SettingsBook book = new SettingsBook(engine.memory);
            book.replace(
                    book.read(),
                    FleetSettings.fromJson("{\"resources\":{\"stripe\":{\"rate\":{\"starts\":50,\"per\":\"1s\"}}}}"),
                    new AuditNote("ada", null));
            engine.worker.advance(Duration.ofSeconds(6));
            assertThat(startsIn(engine, Duration.ofSeconds(20))).isBetween(980, 1_020);
            book.replace(
                    book.read(),
                    FleetSettings.fromJson("{\"resources\":{\"stripe\":{\"rate\":{\"starts\":60,\"per\":\"1m\"}}}}"),
                    new AuditNote("ada", null));
            engine.worker.advance(Duration.ofSeconds(6));
            assertThat(startsIn(engine, Duration.ofMinutes(1))).isBetween(58, 62);
        }
    }

    @Test
    void a_leader_that_does_not_know_the_rate_of_the_code_keeps_it_too() {
        EngineFixture engine = new EngineFixture((payload, job) -> {});
        // The worker that asks first is the leader.
        engine.worker.runDue();
        JobType<String> call = JobType.of("call", String.class);
        List<String> calls = new ArrayList<>();
        InlineWorker other = InlineWorker.start(
                Reprise.builder()
                        .name("other")
                        .store(engine.memory)
                        .codec(new TextCodec())
                        .resources(STRIPE)
                        .handle(call, (payload, job) -> calls.add(payload)),
                engine.clock);
        try (engine;
                other) {
            other.runDue();
            List<JobId> ids = new ArrayList<>();
            for (int i = 0; i < 600; i++) {
                ids.add(engine.reprise.enqueue(call.job("x").resource("stripe")));
            }
            together(engine, other, Duration.ofSeconds(10));
            int before = calls.size();
            together(engine, other, Duration.ofSeconds(30));
            assertThat(calls.size() - before).isBetween(290, 310);
            assertThat(engine.reprise.explain(ids.get(599)).sentence())
                    .contains("the rate of resource stripe is reached; it lets 10 jobs a second go");
            assertThat(engine.reprise.resources().get(0).phase()).isEqualTo(BreakerPhase.CLOSED);
            together(engine, other, Duration.ofMinutes(1));
            assertThat(calls).hasSize(600);
        }
    }

    /** Both run the jobs, and only one has the rate in its code. Until that one gets some, the other knows of no rate. */
    @Test
    void a_worker_without_the_rate_keeps_it_once_one_that_has_it_held_jobs_back() {
        for (boolean leads : List.of(true, false)) {
            List<String> calls = new ArrayList<>();
            EngineFixture engine = new EngineFixture(
                    (payload, job) -> calls.add(payload), builder -> leads ? builder.resources(STRIPE) : builder);
            engine.worker.runDue();
            RepriseBuilder second = Reprise.builder()
                    .name("other")
                    .store(engine.memory)
                    .codec(new TextCodec())
                    .handle(WORK, (payload, job) -> calls.add(payload));
            InlineWorker other = InlineWorker.start(leads ? second : second.resources(STRIPE), engine.clock);
            try (engine;
                    other) {
                other.runDue();
                for (int tenths = 0; tenths < 300; tenths++) {
                    enqueue(engine, 2);
                    other.runDue();
                    engine.worker.advance(Duration.ofMillis(100));
                }
                int before = calls.size();
                for (int tenths = 0; tenths < 600; tenths++) {
                    enqueue(engine, 2);
                    other.runDue();
                    engine.worker.advance(Duration.ofMillis(100));
                }
                assertThat(calls.size() - before)
                        .as("the one with the rate leads: %s", leads)
                        .isBetween(580, 620);
            }
        }
    }

    private static void together(EngineFixture engine, InlineWorker other, Duration time) {
        for (long left = time.toMillis(); left > 0; left -= 100) {
            engine.worker.advance(Duration.ofMillis(100));
            other.runDue();
        }
    }

    @Test
    void failures_cost_attempts_though_the_rate_held_the_jobs() {
        RetryPolicy twice = RetryPolicy.fixed(Duration.ofSeconds(1)).maxAttempts(2);
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {
                    throw new IOException("busy");
                },
                builder -> builder.resources(STRIPE.retry(twice)))) {
            List<JobId> ids = enqueue(engine, 3);
            engine.worker.advance(Duration.ofMinutes(2));
            assertThat(ids).allSatisfy(id -> assertThat(engine.job(id).state()).isEqualTo(JobState.FAILED));
        }
    }

    @Test
    void explain_and_status_name_the_rate() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, builder -> builder.resources(STRIPE))) {
            engine.worker.advance(Duration.ofSeconds(10));
            List<JobId> ids = enqueue(engine, 300);
            engine.worker.advance(Duration.ofSeconds(3));
            JobId waits = ids.stream()
                    .filter(id -> engine.job(id).state() == JobState.PENDING)
                    .findFirst()
                    .orElseThrow();
            assertThat(engine.reprise.explain(waits).sentence())
                    .contains("the rate of resource stripe is reached; it lets 10 jobs a second go")
                    .doesNotContain("breaker");
            assertThat(engine.reprise.resources().get(0).phase()).isEqualTo(BreakerPhase.CLOSED);
            assertThat(engine.reprise.resources().get(0).why())
                    .isEqualTo("nothing is wrong; somebody set a rate of 10 jobs per second");
            JobId later =
                    engine.reprise.enqueue(WORK.job("x").resource("stripe").after(Duration.ofHours(1)));
            assertThat(engine.reprise.explain(later).sentence())
                    .as("the rate does not hold it")
                    .doesNotContain("stripe");
        }
    }

    @Test
    void a_rate_below_one_per_second_is_shown_as_it_is_and_so_is_the_time_that_it_takes() {
        Resource slow = Resource.of("stripe").rate(20, Duration.ofMinutes(1));
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, builder -> builder.resources(slow))) {
            engine.worker.advance(Duration.ofSeconds(10));
            List<JobId> ids = enqueue(engine, 100);
            engine.worker.advance(Duration.ofSeconds(30));
            ResourceStatus.RampStatus ramp =
                    Objects.requireNonNull(engine.reprise.resources().get(0).ramp());
            assertThat(ramp.rate()).isCloseTo(1 / 3.0, within(1e-6));
            assertThat(ramp.aim()).isNull();
            long parked = engine.reprise.resources().get(0).parked();
            assertThat(parked).isGreaterThan(50);
            assertThat(ramp.through().toSeconds()).isBetween(3 * parked - 3, 3 * parked + 3);
            assertThat(engine.reprise.explain(ids.get(99)).sentence()).contains("it lets 20 jobs a minute go");
        }
    }

    @Test
    void a_wrong_rate_is_refused_by_name() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Resource.of("stripe").rate(100, Duration.ZERO))
                .withMessageContaining("time of a rate");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FleetSettings.fromJson("{\"resources\":{\"stripe\":{\"rate\":{\"running\":3}}}}"))
                .withMessageContaining("resources/stripe")
                .withMessageContaining("must not limit what runs");
    }
}
