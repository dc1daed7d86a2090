// SPDX-License-Identifier: Apache-2.0
package io.reprise.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.reprise.JobContext;
import io.reprise.JobHandler;
import io.reprise.JobType;
import io.reprise.PayloadCodec;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.Resource;
import io.reprise.control.BreakerPhase;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.GroupBacklog;
import io.reprise.insight.ResourceStatus;
import io.reprise.insight.StartLevel;
import io.reprise.job.JobSignal;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.ClaimRequest;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class JobMetricsTest {

    private static final JobType<String> CALL = JobType.of("call", String.class)
            .retry(RetryPolicy.fixed(Duration.ofSeconds(4))
                    .jitter(Jitter.none())
                    .maxAttempts(3));

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final ManualClock clock = new ManualClock();
    private final InMemoryJobStore store = new InMemoryJobStore(clock);

    /** The payload says how many attempts fail. */
    private static void handle(String payload, JobContext job) throws IOException {
        if (job.attempt() <= Integer.parseInt(payload)) {
            throw new IOException("busy");
        }
    }

    private InlineWorker worker(JobMetrics metrics, UnaryOperator<RepriseBuilder> options) {
        return InlineWorker.start(
                options.apply(Reprise.builder().store(store).codec(new Text()).listener(metrics)), clock);
    }

    private InlineWorker worker(JobHandler<String> handler) {
        return worker(new JobMetrics(registry), builder -> builder.handle(CALL, handler));
    }

    private double counter(String name, String... tags) {
        return registry.get(name).tags(tags).counter().count();
    }

    private InlineWorker ran(String... payloads) {
        InlineWorker worker = worker(JobMetricsTest::handle);
        for (String payload : payloads) {
            worker.reprise().enqueue(CALL.job(payload).resource("mail"));
        }
        worker.advance(Duration.ofMinutes(1));
        return worker;
    }

    @Test
    void retries_and_what_they_lead_to_are_counted() {
        try (InlineWorker worker = ran("0", "0", "1", "2", "3")) {
            String[] target = {"type", "call", "queue", "default", "resource", "mail"};
            assertThat(counter("reprise.enqueued", target)).isEqualTo(5);
            assertThat(counter("retries", target)).isEqualTo(1 + 2 + 2);
            assertThat(counter("retry.exhausted", target)).isEqualTo(1);
            assertThat(counter("reprise.failed", "reason", "EXHAUSTED")).isEqualTo(1);
            assertThat(counter("reprise.succeeded", "attempt", "1")).isEqualTo(2);
            assertThat(counter("reprise.succeeded", "attempt", "2")).isEqualTo(1);
            assertThat(counter("reprise.succeeded", "attempt", "3")).isEqualTo(1);
            assertThat(registry.get("retry.latency").timer().totalTime(TimeUnit.SECONDS))
                    .isEqualTo(20);
            assertThat(registry.get("reprise.recovery")
                            .tag("attempt", "3")
                            .timer()
                            .totalTime(TimeUnit.SECONDS))
                    .isEqualTo(8);
            assertThat(registry.get("reprise.attempts.needed").summary().mean()).isCloseTo(7 / 4.0, within(1e-9));
            assertThat(registry.get("reprise.amplification").gauge().value()).isEqualTo(10 / 5.0);
            assertThat(registry.get("reprise.run")
                            .tag("outcome", "failed")
                            .timer()
                            .count())
                    .isEqualTo(6);
        }
    }

    @Test
    void trouble_of_a_retry_advisor_is_counted() {
        try (InlineWorker worker = worker(
                new JobMetrics(registry),
                builder -> builder.handle(CALL, JobMetricsTest::handle).retryAdvisor(situation -> {
                    throw new IllegalStateException("the advisor is broken");
                }))) {
            worker.reprise().enqueue(CALL.job("2"));
            worker.advance(Duration.ofMinutes(1));
            assertThat(counter("reprise.advisor.failed")).isEqualTo(2);
            assertThat(counter("reprise.succeeded", "attempt", "3")).isEqualTo(1);
        }
    }

    @Test
    void trouble_of_a_follow_up_rule_is_counted() {
        try (InlineWorker worker = worker(
                new JobMetrics(registry),
                builder -> builder.handle(CALL, JobMetricsTest::handle).followUps((kind, job, token) -> {
                    throw new IllegalStateException("the rule is broken");
                }))) {
            worker.reprise().enqueue(CALL.job("0"));
            worker.runDue();
            assertThat(counter("reprise.followups.failed")).isEqualTo(1);
            assertThat(counter("reprise.succeeded", "attempt", "1")).isEqualTo(1);
        }
    }

    @Test
    void a_run_that_ends_cancelled_is_timed() {
        JobHandler<String> handler = (payload, job) -> {
            throw JobSignal.cancel("not needed");
        };
        try (InlineWorker worker = worker(handler)) {
            worker.reprise().enqueue(CALL.job("0"));
            worker.runDue();
            assertThat(registry.get("reprise.run")
                            .tag("outcome", "cancelled")
                            .timer()
                            .count())
                    .isEqualTo(1);
        }
    }

    @Test
    void queues_use_up_no_labels_of_resources() {
        JobMetrics metrics = new JobMetrics(registry);
        for (int i = 0; i < 2 * Labels.MAX; i++) {
            metrics.onControl(
                    new ControlEvent(ControlEvent.Kind.QUEUE_BUDGET_EMPTIED, "queue-" + i, Instant.EPOCH, "retries"));
        }
        metrics.onControl(new ControlEvent(ControlEvent.Kind.BREAKER_OPENED, "mail", Instant.EPOCH, "failures"));
        assertThat(counter("reprise.control", "kind", "BREAKER_OPENED", "subject", "mail"))
                .isEqualTo(1);
    }

    @Test
    void losses_and_stale_outcomes_are_counted() {
        store.insert(List.of(JobSpec.builder("call", "0").build()));
        store.claim(new ClaimRequest(
                "victim", Duration.ofSeconds(1), 1, List.of(new ClaimRequest.Demand("default", 1)), 0.2, true));
        try (InlineWorker worker = worker(JobMetricsTest::handle)) {
            worker.advance(Duration.ofMinutes(5));
            assertThat(counter("reprise.lost", "type", "call", "resource", "none"))
                    .isEqualTo(1);
        }
        List<Long> taken = new ArrayList<>();
        try (InlineWorker worker = worker((payload, job) -> {
            clock.advance(Duration.ofHours(1));
            store.takeOver("thief", Duration.ofHours(1), 10).forEach(lost -> taken.add(lost.lostToken()));
        })) {
            worker.reprise().enqueue(CALL.job("0"));
            worker.advance(Duration.ofMinutes(1));
            assertThat(taken).isNotEmpty();
            assertThat(counter("reprise.stale", "type", "call")).isPositive();
        }
    }

    @Test
    void labels_are_bounded() {
        try (InlineWorker worker = worker((payload, job) -> {})) {
            for (int i = 0; i < Labels.MAX + 20; i++) {
                worker.reprise().enqueue(CALL.job("0").resource("host-" + i));
            }
            worker.advance(Duration.ofMinutes(1));
            assertThat(registry.find("reprise.enqueued").counters()).hasSize(Labels.MAX + 1);
            assertThat(counter("reprise.enqueued", "resource", "other")).isEqualTo(20);
        }
    }

    @Test
    void alerts_are_counted() {
        try (InlineWorker worker = ran("1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1")) {
            worker.advance(Duration.ofMinutes(1));
            assertThat(counter("reprise.alerts", "kind", "RETRY_COUNT", "type", "call"))
                    .isEqualTo(1);
        }
    }

    @Test
    void breakers_and_budgets_are_shown_and_read_seldom() {
        MockClock time = new MockClock();
        SimpleMeterRegistry mocked = new SimpleMeterRegistry(SimpleConfig.DEFAULT, time);
        List<ResourceStatus> statuses = new ArrayList<>(List.of(status("mail", BreakerPhase.OPEN, 3.5)));
        int[] reads = new int[1];
        new JobMetrics(mocked).resources(() -> {
            reads[0]++;
            return statuses;
        });
        assertThat(mocked.get("reprise.breaker.state")
                        .tag("resource", "mail")
                        .gauge()
                        .value())
                .isEqualTo(3);
        assertThat(mocked.get("reprise.budget.level").gauge().value()).isEqualTo(3.5);
        assertThat(mocked.get("reprise.parked").gauge().value()).isEqualTo(7);
        mocked.get("reprise.resources").gauge().value();
        assertThat(reads[0]).as("at once, and when it is first looked at").isEqualTo(2);
        statuses.set(0, status("mail", BreakerPhase.CLOSED, 500));
        statuses.add(status("sms", BreakerPhase.RAMPING, 1));
        mocked.get("reprise.resources").gauge().value();
        assertThat(reads[0]).isEqualTo(2);
        time.add(Duration.ofSeconds(11));
        assertThat(mocked.get("reprise.resources").gauge().value()).isEqualTo(2);
        assertThat(reads[0]).isEqualTo(3);
        assertThat(mocked.get("reprise.breaker.state")
                        .tag("resource", "mail")
                        .gauge()
                        .value())
                .isZero();
        assertThat(mocked.get("reprise.breaker.state")
                        .tag("resource", "sms")
                        .gauge()
                        .value())
                .isEqualTo(1);
    }

    @Test
    void the_resources_of_an_engine_are_shown() {
        JobMetrics metrics = new JobMetrics(registry);
        try (InlineWorker worker = worker(
                metrics, builder -> builder.resources(Resource.of("mail")).handle(CALL, JobMetricsTest::handle))) {
            worker.runDue();
            metrics.resources(worker.reprise()::resources);
            assertThat(registry.get("reprise.breaker.state")
                            .tag("resource", "mail")
                            .gauge()
                            .value())
                    .isZero();
            assertThat(registry.get("reprise.budget.level")
                            .tag("resource", "mail")
                            .gauge()
                            .value())
                    .isPositive();
        }
    }

    @Test
    void the_queues_of_an_engine_are_shown() {
        JobMetrics metrics = new JobMetrics(registry);
        try (InlineWorker worker = worker(metrics, builder -> builder.handle(CALL, JobMetricsTest::handle))) {
            worker.reprise().enqueue(CALL.job("0"));
            worker.runDue();
            worker.reprise().enqueue(CALL.job("0").after(Duration.ofMinutes(5)));
            metrics.queues(worker.reprise()::queues);
            assertThat(jobs(JobState.PENDING)).isEqualTo(1);
            assertThat(jobs(JobState.SUCCEEDED)).isEqualTo(1);
            assertThat(jobs(JobState.RUNNING)).isZero();
            assertThat(registry.get("reprise.queues").gauge().value()).isEqualTo(1);
            assertThat(registry.get("reprise.queue.lag.seconds").gauge().value())
                    .isZero();
        }
    }

    private double jobs(JobState state) {
        return registry.get("reprise.jobs")
                .tag("queue", "default")
                .tag("state", state.name())
                .gauge()
                .value();
    }

    @Test
    void a_queue_is_as_late_as_its_oldest_job() {
        MockClock time = new MockClock();
        SimpleMeterRegistry mocked = new SimpleMeterRegistry(SimpleConfig.DEFAULT, time);
        Instant due = Instant.ofEpochMilli(time.wallTime());
        List<QueueState> states = new ArrayList<>(
                List.of(new QueueState("mail", null, null, Map.of(JobState.PENDING, 7L), Set.of(), due)));
        JobMetrics metrics = new JobMetrics(mocked).queues(() -> states);
        time.add(Duration.ofSeconds(90));
        metrics.refresh();
        assertThat(mocked.get("reprise.queues").gauge().value()).isEqualTo(1);
        assertThat(mocked.get("reprise.queue.lag.seconds")
                        .tag("queue", "mail")
                        .gauge()
                        .value())
                .isEqualTo(90);
        states.clear();
        time.add(Duration.ofSeconds(11));
        metrics.refresh();
        assertThat(mocked.get("reprise.queues").gauge().value()).isZero();
        assertThat(mocked.find("reprise.queue.lag.seconds").gauge()).isNull();
    }

    @Test
    void what_is_collected_is_there_while_it_is_read_anew() {
        MockClock time = new MockClock();
        SimpleMeterRegistry mocked = new SimpleMeterRegistry(SimpleConfig.DEFAULT, time);
        List<QueueState> states = new ArrayList<>();
        states.add(new QueueState("mail", null, null, Map.of(JobState.PENDING, 7L), Set.of(), null));
        new JobMetrics(mocked).queues(() -> states);
        List<Meter> collected = mocked.getMeters();
        states.set(0, new QueueState("mail", null, null, Map.of(JobState.PENDING, 8L), Set.of(), null));
        time.add(Duration.ofSeconds(11));
        mocked.get("reprise.queues").gauge().value();
        assertThat(mocked.getMeters()).hasSameSizeAs(collected);
        for (Meter meter : collected) {
            assertThat(mocked.find(meter.getId().getName())
                            .tags(meter.getId().getTags())
                            .meter())
                    .isSameAs(meter);
        }
        assertThat(mocked.get("reprise.jobs").tag("state", "PENDING").gauge().value())
                .isEqualTo(8);
    }

    @Test
    void the_resources_are_still_shown_after_garbage_collection() {
        new JobMetrics(registry).resources(() -> List.of(status("mail", BreakerPhase.OPEN, 1)));
        System.gc();
        assertThat(registry.get("reprise.resources").gauge().value()).isEqualTo(1);
    }

    @Test
    void a_store_that_does_not_answer_leaves_the_meters_as_they_were() {
        new JobMetrics(registry).resources(() -> {
            throw new IllegalStateException("away");
        });
        assertThat(registry.get("reprise.resources").gauge().value()).isZero();
    }

    @Test
    void groups_with_most_jobs_and_starts_in_time_have_gauges() {
        new JobMetrics(registry)
                .groups(() -> List.of(new GroupBacklog("mail", "a", 7)))
                .starts(() -> List.of(new StartLevel("mail", null, 10, 1), new StartLevel("mail", "a", 4, 0)));
        assertThat(registry.get("reprise.group.jobs")
                        .tags("queue", "mail", "group", "a")
                        .gauge()
                        .value())
                .isEqualTo(7);
        assertThat(registry.get("reprise.starts.in.time")
                        .tags("queue", "mail", "group", "")
                        .gauge()
                        .value())
                .isEqualTo(0.9);
        assertThat(registry.get("reprise.starts")
                        .tags("queue", "mail", "group", "a")
                        .gauge()
                        .value())
                .isEqualTo(4);
    }

    @Test
    void prometheus_sees_the_names_that_dashboards_expect() {
        PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        JobMetrics metrics = new JobMetrics(prometheus);
        try (InlineWorker worker = worker(metrics, builder -> builder.handle(CALL, JobMetricsTest::handle))) {
            worker.reprise().enqueue(CALL.job("1"));
            worker.reprise().enqueue(CALL.job("9"));
            worker.advance(Duration.ofMinutes(1));
            metrics.queues(worker.reprise()::queues);
            assertThat(prometheus.scrape())
                    .contains("\nretries_total{")
                    .contains("\nretry_exhausted_total{")
                    .contains("\nretry_latency_seconds_count{")
                    .contains("\nretry_latency_seconds_sum{")
                    .contains("\nreprise_succeeded_total{")
                    .contains("\nreprise_amplification{type=\"call\"} 2.5")
                    .contains("\nreprise_jobs{queue=\"default\",state=\"FAILED\"} 1.0")
                    .contains("\nreprise_queue_lag_seconds{queue=\"default\"} 0.0");
        }
    }

    private static ResourceStatus status(String name, BreakerPhase phase, double budget) {
        return new ResourceStatus(
                name,
                phase,
                "",
                null,
                null,
                null,
                new ResourceStatus.BudgetStatus(budget, 500, 0, null),
                7,
                null,
                null);
    }

    /** Texts as they are. */
    private static final class Text implements PayloadCodec {
        @Override
        public String encode(Object payload) {
            return payload.toString();
        }

        @Override
        public <P> P decode(String json, Class<P> type) {
            return type.cast(json);
        }
    }
}
