// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.reprise.control.BreakerSettings;
import io.reprise.control.BudgetSettings;
import io.reprise.fairness.FlowLimit;
import io.reprise.insight.TraceParent;
import io.reprise.job.AuditNote;
import io.reprise.job.JobChange;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.retry.RetryPolicy;
import io.reprise.settings.FleetSettings;
import io.reprise.settings.SettingsBook;
import io.reprise.testing.InlineWorker;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class LogTest {

    private final Logger logger = (Logger) LoggerFactory.getLogger("io.reprise");
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

    @BeforeEach
    void listen() {
        lines.start();
        logger.addAppender(lines);
    }

    @AfterEach
    void stop() {
        logger.detachAppender(lines);
    }

    /** Seeds §9, check 15 (OQ-17), with numbers that agree with each other and with what is stored (OQ-B7). */
    @Test
    void check_15_retries_and_final_failures_are_logged_with_consistent_numbers() {
        JobHandler<String> handler = (payload, job) -> {
            throw new IOException("down");
        };
        try (EngineFixture engine = new EngineFixture(handler)) {
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(EXACT));
            engine.worker.advance(Duration.ofMinutes(1));
            List<String> messages = lines.list.stream()
                    .map(ILoggingEvent::getFormattedMessage)
                    .filter(line -> line.startsWith("Task "))
                    .map(line -> line.replaceFirst(" \\(\\S+ of work in queue default: .*", ""))
                    .toList();
            assertThat(messages)
                    .containsExactly(
                            "Task retry scheduled: " + id + " (attempt 2) in 1.0s",
                            "Task retry scheduled: " + id + " (attempt 3) in 2.0s",
                            "Task retry scheduled: " + id + " (attempt 4) in 4.0s",
                            "Task failed permanently: " + id + " after 4 attempts");
        }
    }

    @Test
    void limits_that_are_never_reached_and_rates_below_the_lease_are_named() {
        Queue queue = Queue.of("mail").concurrency(30).perType("work", FlowLimit.rate(1, Duration.ofHours(1)));
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {},
                builder -> builder.concurrency(10).concurrency(WORK, 20).queues(queue))) {
            assertThat(engine.reprise.isWorking()).isTrue();
            assertThat(lines.list.stream().map(ILoggingEvent::getFormattedMessage))
                    .contains(
                            "The worker runs at most 10 jobs at once, so the limit of 20 jobs of type 'work' is never reached",
                            "The worker runs at most 10 jobs at once, so the limit of 30 jobs of queue 'mail' is never reached")
                    .anyMatch(line -> line.startsWith(
                            "The rate limit of type 'work' in queue 'mail' lets one job start every 60 min"));
        }
    }

    /** CD-13: retries found ready and retries by hand. */
    @Test
    void a_rate_that_ends_with_the_last_worker_that_has_it_is_named() {
        EngineFixture engine = new EngineFixture((payload, job) -> {});
        // The worker that asks first is the leader.
        engine.worker.runDue();
        InlineWorker other = InlineWorker.start(
                Reprise.builder()
                        .name("other")
                        .store(engine.memory)
                        .codec(new TextCodec())
                        .resources(Resource.of("stripe").rate(10, Duration.ofSeconds(1)))
                        .handle(WORK, (payload, job) -> {}),
                engine.clock);
        try (engine) {
            try (other) {
                for (int i = 0; i < 600; i++) {
                    engine.reprise.enqueue(WORK.job("x").resource("stripe"));
                }
                for (int i = 0; i < 200; i++) {
                    other.runDue();
                    engine.worker.advance(Duration.ofMillis(100));
                }
            }
            engine.worker.advance(Duration.ofMinutes(1));
        }
        assertThat(lines.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .filteredOn(line -> line.startsWith("No live worker has the rate of resource 'stripe'"))
                .hasSize(1);
    }

    @Test
    void retries_that_are_ready_and_retries_by_hand_are_logged() {
        Level before = logger.getLevel();
        logger.setLevel(Level.DEBUG);
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            throw new IOException("down");
        })) {
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(EXACT.maxAttempts(2)));
            engine.worker.advance(Duration.ofMinutes(1));
            engine.reprise.as("ada", null).retry(id, ManualRetry.NOW.granting(1));
            assertThat(lines.list.stream().map(ILoggingEvent::getFormattedMessage))
                    .contains(
                            "Tasks ready for retry: 1 in queue default",
                            "Task retried by hand: " + id + " (attempt 3 of work in queue default)");
        } finally {
            logger.setLevel(before);
        }
    }

    @Test
    void a_change_of_a_waiting_job_is_logged_and_is_no_retry() {
        Level before = logger.getLevel();
        logger.setLevel(Level.INFO);
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            JobId id = engine.reprise.enqueue(WORK.job("a").after(Duration.ofDays(1)));
            Instant then = engine.clock.instant().plusSeconds(60);
            Operations ada = engine.reprise.as("ada", null);
            ada.reschedule(id, then);
            ada.all(JobQuery.all()).change(JobChange.NONE.withPriority(5));
            String line = "Task changed by hand: " + id + " (due " + then + ", work in queue default)";
            assertThat(lines.list.stream().map(ILoggingEvent::getFormattedMessage))
                    .filteredOn(text -> text.contains("by hand"))
                    .hasSize(3)
                    .startsWith(line, line)
                    .last()
                    .asString()
                    .startsWith("Bulk change by hand: 1 of 1 jobs");
        } finally {
            logger.setLevel(before);
        }
    }

    @Test
    void a_line_carries_job_type_queue_and_attempt_for_logs_in_json() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            throw new IOException("down");
        })) {
            String trace = "4bf92f3577b34da6a3ce929d0e0e4736";
            JobId id = engine.reprise.enqueue(WORK.job("a")
                    .retry(EXACT.maxAttempts(1))
                    .tags(new TraceParent("00-" + trace + "-00f067aa0ba902b7-01").tag()));
            engine.worker.runDue();
            ILoggingEvent line = lines.list.stream()
                    .filter(each -> each.getFormattedMessage().startsWith("Task failed permanently"))
                    .findFirst()
                    .orElseThrow();
            assertThat(line.getKeyValuePairs().toString())
                    .contains("job=\"" + id + "\"", "type=\"work\"", "queue=\"default\"", "attempt=\"1\"")
                    .contains("trace_id=\"" + trace + "\"");
        }
    }

    @Test
    void a_job_that_waited_beyond_its_deadline_is_logged_like_every_other_failure() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            throw new IOException("down");
        })) {
            RetryPolicy policy = EXACT.maxAttempts(5).deadline(Duration.ofMinutes(1));
            JobId never = engine.reprise.enqueue(WORK.job("a").retry(policy));
            JobId once = engine.reprise.enqueue(WORK.job("a").queue("other").retry(policy));
            engine.reprise.as("ada", null).pause("default");
            engine.worker.runDue();
            engine.reprise.as("ada", null).pause("other");
            engine.worker.advance(Duration.ofMinutes(5));
            List<ILoggingEvent> failed = lines.list.stream()
                    .filter(each -> each.getFormattedMessage().startsWith("Task failed permanently"))
                    .toList();
            assertThat(failed)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .containsExactlyInAnyOrder(
                            "Task failed permanently: " + never
                                    + " after 0 attempts (DEADLINE of work in queue default: it waited too long)",
                            "Task failed permanently: " + once
                                    + " after 1 attempt (DEADLINE of work in queue other: it waited too long)");
            assertThat(failed)
                    .allSatisfy(line ->
                            assertThat(line.getKeyValuePairs().toString()).contains("type=\"work\""));
        }
    }

    @Test
    void settings_with_which_a_resource_cannot_recover_are_named_at_start() {
        Resource smtp = Resource.of("smtp")
                .breaker(BreakerSettings.DEFAULT.probes(1, Duration.ofSeconds(1), Duration.ofHours(2)))
                .budget(BudgetSettings.OF_RESOURCE.floor(0.01))
                .retry(RetryPolicy.unset().deadline(Duration.ofMinutes(30)));
        Resource fine = Resource.of("fine").budget(BudgetSettings.OF_RESOURCE.floor(2));
        Resource endless = Resource.of("acquirer")
                .retry(RetryPolicy.unset().maxAttempts(15).noDeadline());
        try (EngineFixture engine =
                new EngineFixture((payload, job) -> {}, builder -> builder.resources(smtp, fine, endless))) {
            assertThat(engine.reprise.resources()).hasSize(3);
            assertThat(lines.list.stream().map(ILoggingEvent::getFormattedMessage))
                    .anyMatch(line -> line.contains("resource 'smtp'") && line.contains("deadline-before-probe"))
                    .anyMatch(line -> line.contains("resource 'smtp'") && line.contains("budget-without-floor"))
                    .anyMatch(line -> line.contains("resource 'acquirer' have 15 attempts and no deadline")
                            && line.contains("30 times")
                            && line.contains("no-deadline"))
                    .noneMatch(line -> line.contains("fine") || line.contains("of a resource"));
        }
    }

    @Test
    void a_rate_limit_below_one_job_per_lease_is_named_at_start() {
        FlowLimit slow = FlowLimit.rate(1, Duration.ofHours(1));
        Queue mail = Queue.of("mail").rate(slow);
        Queue orders =
                Queue.of("orders").perGroup("gold", slow).perGroup("*", FlowLimit.rate(1, Duration.ofSeconds(1)));
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, builder -> builder.queues(mail, orders))) {
            assertThat(engine.reprise.queues()).isEmpty();
            assertThat(lines.list.stream()
                            .map(ILoggingEvent::getFormattedMessage)
                            .filter(line -> line.contains("rate-below-lease")))
                    .satisfiesExactly(
                            line -> assertThat(line).contains("queue 'mail'", "60 min", "lease of"),
                            line -> assertThat(line).contains("group 'gold' of queue 'orders'"));
        }
    }

    @Test
    void a_ceiling_below_a_policy_is_logged_with_its_name() {
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {},
                builder -> builder.retry(RetryPolicy.unset().unlimited()))) {
            SettingsBook book = new SettingsBook(engine.memory);
            FleetSettings ceiling = FleetSettings.fromJson("{\"defaults\":{\"ceilings\":{\"maxAttempts\":5}}}");
            assertThat(book.replace(book.read(), ceiling, new AuditNote("ada", "test")))
                    .isPresent();
            engine.worker.advance(Duration.ofSeconds(5));
            assertThat(lines.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .contains("The ceiling maxAttempts 5 is below the policy of the worker, which asks for unlimited:"
                            + " jobs get 5");
        }
    }
}
