// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.control.ControlSettings;
import io.reprise.insight.Activity;
import io.reprise.insight.Alert;
import io.reprise.insight.Alert.Kind;
import io.reprise.insight.AlertRules;
import io.reprise.insight.JobEvent;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.WorkerCounts;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the leader alerts to: the rules of OQ-15 and GO-14. */
class AlertsTest {

    private final List<Alert> told = new ArrayList<>();

    private final JobListener listener = new JobListener() {
        @Override
        public void onEvent(JobEvent event) {}

        @Override
        public void onAlert(Alert alert) {
            told.add(alert);
        }
    };

    private EngineFixture engine(AlertRules rules) {
        return new EngineFixture(
                (payload, job) -> {
                    if (job.attempt() == 1 && !payload.equals("good")) {
                        throw new IOException("busy");
                    }
                },
                builder -> builder.listener(listener).alerts(rules).control(ControlSettings.off()));
    }

    private static void enqueue(EngineFixture engine, String payload, int jobs, RetryPolicy policy) {
        for (int i = 0; i < jobs; i++) {
            engine.reprise.enqueue(WORK.job(payload).retry(policy));
        }
    }

    private List<Kind> kinds() {
        return told.stream().map(Alert::kind).toList();
    }

    /** What was raised once is cleared once when nothing of the kind happens any more, and stays so. */
    private void clearsOnce(EngineFixture engine, Kind kind) {
        assertThat(engine.reprise.alerts()).extracting(Alert::kind).containsExactly(kind);
        engine.worker.advance(Duration.ofMinutes(30));
        assertThat(kinds()).containsExactly(kind, kind);
        assertThat(told.get(1).isRaised()).isFalse();
        assertThat(told.get(1).value())
                .isLessThanOrEqualTo(AlertRules.CLEAR_AT * told.get(1).threshold());
        assertThat(engine.reprise.alerts()).isEmpty();
    }

    @Test
    void a_high_retry_rate_is_told_once_and_cleared_once() {
        try (EngineFixture engine = engine(AlertRules.DEFAULT.retryCount(1_000_000))) {
            enqueue(engine, "good", 90, EXACT);
            enqueue(engine, "bad", 11, EXACT);
            engine.worker.advance(Duration.ofMinutes(2));
            assertThat(kinds()).containsExactly(Kind.RETRY_RATE);
            Alert alert = told.get(0);
            assertThat(alert.isRaised()).isTrue();
            assertThat(alert.type()).isEqualTo("work");
            assertThat(alert.value()).isGreaterThan(0.1).isLessThan(0.11);
            assertThat(alert.message()).isEqualTo("High retry rate for work: 11 % of jobs (alert above 10 %)");
            assertThat(engine.reprise.alerts()).containsExactly(alert);
            engine.worker.advance(Duration.ofMinutes(15));
            assertThat(kinds()).containsExactly(Kind.RETRY_RATE, Kind.RETRY_RATE);
            assertThat(told.get(1).isRaised()).isFalse();
            assertThat(told.get(1).since()).isEqualTo(alert.since());
            assertThat(told.get(1).message()).startsWith("Over: ");
            assertThat(engine.reprise.alerts()).isEmpty();
        }
    }

    @Test
    void a_rate_of_few_jobs_says_nothing() {
        try (EngineFixture engine = engine(AlertRules.DEFAULT.retryCount(1_000_000))) {
            enqueue(engine, "bad", 19, EXACT);
            engine.worker.advance(Duration.ofMinutes(2));
            assertThat(told).isEmpty();
        }
    }

    @Test
    void more_than_ten_retries_of_a_type_are_told() {
        try (EngineFixture engine = engine(AlertRules.DEFAULT.retryRate(1, 1))) {
            enqueue(engine, "bad", 10, EXACT);
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(told).isEmpty();
            enqueue(engine, "bad", 1, EXACT);
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(kinds()).containsExactly(Kind.RETRY_COUNT);
            assertThat(told.get(0).value()).isEqualTo(11);
            assertThat(told.get(0).message()).isEqualTo("High retry rate for work: 11 retries (alert above 10)");
            clearsOnce(engine, Kind.RETRY_COUNT);
        }
    }

    @Test
    void a_value_that_wavers_does_not_alert_again_and_again() {
        try (EngineFixture engine = engine(AlertRules.DEFAULT.retryRate(1, 1).windowMinutes(1))) {
            enqueue(engine, "bad", 12, EXACT);
            engine.worker.advance(Duration.ofMinutes(1));
            for (int minute = 0; minute < 10; minute++) {
                // 9 and 11 in turn: above what clears, about what raises.
                enqueue(engine, "bad", 9 + minute % 2 * 2, EXACT);
                engine.worker.advance(Duration.ofMinutes(1));
            }
            assertThat(kinds()).containsExactly(Kind.RETRY_COUNT);
        }
    }

    @Test
    void a_spike_of_dead_letters_is_told_but_not_what_is_usual() {
        try (EngineFixture engine = engine(AlertRules.DEFAULT.retryRate(1, 1))) {
            for (int i = 0; i < 6; i++) {
                enqueue(engine, "bad", 10, EXACT.maxAttempts(1));
                engine.worker.advance(Duration.ofMinutes(10));
            }
            assertThat(told).isEmpty();
            enqueue(engine, "bad", 25, EXACT.maxAttempts(1));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(told).as("less than three times the usual").isEmpty();
            enqueue(engine, "bad", 20, EXACT.maxAttempts(1));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(kinds()).containsExactly(Kind.DEAD_LETTERS);
            clearsOnce(engine, Kind.DEAD_LETTERS);
        }
    }

    @Test
    void long_delays_are_told() {
        RetryPolicy slow = RetryPolicy.fixed(Duration.ofMinutes(11)).jitter(Jitter.none());
        try (EngineFixture engine = engine(AlertRules.DEFAULT.retryRate(1, 1))) {
            enqueue(engine, "bad", 6, slow);
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(kinds()).containsExactly(Kind.BACKOFF);
            assertThat(told.get(0).message()).contains("660 s on average");
            clearsOnce(engine, Kind.BACKOFF);
        }
    }

    @Test
    void a_new_leader_does_not_alert_again() {
        ManualClock clock = new ManualClock();
        InMemoryJobStore store = new InMemoryJobStore(clock);
        store.addCounts(new WorkerCounts(
                List.of(),
                List.of(),
                List.of(new Activity(
                        Activity.Subject.TYPE,
                        "work",
                        new Activity.Counts(0, 0, 50, 0, 50, 0, Duration.ofSeconds(50), Duration.ZERO)))));
        for (String name : List.of("first", "second")) {
            try (InlineWorker worker = InlineWorker.start(
                    Reprise.builder()
                            .store(store)
                            .codec(new TextCodec())
                            .name(name)
                            .listener(listener)
                            .handle(WORK, (payload, job) -> {}),
                    clock)) {
                worker.advance(Duration.ofMinutes(1));
            }
        }
        assertThat(kinds()).containsExactly(Kind.RETRY_COUNT);
    }

    @Test
    void what_a_listener_throws_harms_nothing() {
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {
                    if (job.attempt() == 1) {
                        throw new IOException("busy");
                    }
                },
                builder -> builder.listener(new JobListener() {
                            @Override
                            public void onEvent(JobEvent event) {}

                            @Override
                            public void onAlert(Alert alert) {
                                throw new IllegalStateException("bad listener");
                            }
                        })
                        .listener(listener))) {
            enqueue(engine, "bad", 12, EXACT);
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(kinds()).containsExactly(Kind.RETRY_COUNT);
        }
    }

    @Test
    void bad_rules_are_refused() {
        assertThatIllegalArgumentException().isThrownBy(() -> AlertRules.DEFAULT.windowMinutes(0));
        assertThatIllegalArgumentException().isThrownBy(() -> AlertRules.DEFAULT.retryRate(1.5, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> AlertRules.DEFAULT.retryCount(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> AlertRules.DEFAULT.backoff(Duration.ofSeconds(-1)));
    }
}
