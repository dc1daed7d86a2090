// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.JobId;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import io.reprise.settings.FleetSettings;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who comes first, and that nobody is left out. */
class FairnessTest {

    private static final RetryPolicy AT_ONCE =
            RetryPolicy.fixed(Duration.ZERO).unlimited().noDeadline();

    private static final JobHandler<String> FAILS_IF_BAD = (payload, job) -> {
        if (payload.equals("bad")) {
            throw new IOException("always");
        }
    };

    /** Seeds §9, check 10 (GO-R4): retries take their share and no more while fresh work waits. */
    @Test
    void check_10_ten_thousand_always_failing_jobs_do_not_starve_fresh_ones() {
        RetryPolicy soon = RetryPolicy.fixed(Duration.ofMillis(1)).unlimited().noDeadline();
        try (EngineFixture engine = new EngineFixture(FAILS_IF_BAD)) {
            engine.reprise.enqueueAll(
                    Collections.nCopies(10_000, WORK.job("bad").retry(soon)));
            while (engine.ran.size() < 10_000) {
                engine.worker.advance(Duration.ofMillis(1));
            }
            engine.ran.clear();
            engine.reprise.enqueueAll(Collections.nCopies(100, WORK.job("good")));
            while (Collections.frequency(engine.ran, "good") < 100) {
                engine.worker.advance(Duration.ofMillis(1));
                assertThat(engine.ran.size()).isLessThan(20_000);
            }
            int retriesMeanwhile = engine.ran.lastIndexOf("good") + 1 - 100;
            assertThat(retriesMeanwhile).isBetween(1, 2_000);
        }
    }

    @Test
    void retries_are_not_starved_by_fresh_work_either() {
        try (EngineFixture engine = new EngineFixture(FAILS_IF_BAD)) {
            JobId bad = engine.reprise.enqueue(WORK.job("bad").retry(AT_ONCE.maxAttempts(5)));
            engine.reprise.enqueueAll(Collections.nCopies(20_000, WORK.job("good")));
            engine.worker.runDue();
            assertThat(engine.job(bad).attempts()).isEqualTo(5);
            assertThat(engine.ran.lastIndexOf("bad")).isLessThan(19_000);
        }
    }

    @Test
    void higher_priority_runs_first() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            engine.reprise.enqueueAll(List.of(
                    WORK.job("low").priority(-5),
                    WORK.job("normal"),
                    WORK.job("high").priority(9)));
            engine.worker.runDue();
            assertThat(engine.ran).containsExactly("high", "normal", "low");
        }
    }

    @Test
    void in_strict_order_a_later_queue_waits_for_the_earlier_ones() {
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {},
                builder -> builder.strictOrder().concurrency(2).queues(Queue.of("first"), Queue.of("second")))) {
            for (int i = 0; i < 20; i++) {
                engine.reprise.enqueue(WORK.job("second").queue("second"));
                engine.reprise.enqueue(WORK.job("first").queue("first"));
            }
            engine.worker.runDue();
            assertThat(engine.ran.subList(0, 20)).containsOnly("first");
        }
    }

    @Test
    void by_weight_queues_are_served_in_proportion() {
        ManualClock clock = new ManualClock();
        List<String> ran = new ArrayList<>();
        // Jobs that take a while, so that none is fetched ahead: each claim is for one free slot.
        RepriseBuilder builder = Reprise.builder()
                .store(new InMemoryJobStore(clock))
                .codec(new TextCodec())
                .concurrency(1)
                .queues(Queue.of("heavy").weight(9), Queue.of("light"))
                .handle(WORK, (payload, job) -> {
                    ran.add(payload);
                    clock.advance(Duration.ofSeconds(1));
                });
        try (InlineWorker worker = InlineWorker.start(builder, clock)) {
            for (String queue : List.of("heavy", "light")) {
                worker.reprise()
                        .enqueueAll(Collections.nCopies(500, WORK.job(queue).queue(queue)));
            }
            while (ran.size() < 500) {
                worker.advance(Duration.ofSeconds(1));
            }
        }
        assertThat(Collections.frequency(ran.subList(0, 500), "heavy")).isBetween(420, 480);
    }

    @Test
    void a_paused_queue_is_left_alone_until_it_is_resumed() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            engine.reprise.as("ada", "provider is down").pause("default");
            engine.reprise.enqueue(WORK.job("a"));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.ran).isEmpty();
            engine.reprise.as("ada", "provider is back").resume("default");
            engine.worker.runDue();
            assertThat(engine.ran).containsExactly("a");
        }
    }

    /** Returns what ran, in order: a thousand retries of high priority that are due beside many low jobs. */
    private static List<String> highRetriesBesideManyLowJobs(String settings) {
        FleetSettings fleet = FleetSettings.fromJson(settings);
        try (EngineFixture engine = new EngineFixture(
                FAILS_IF_BAD, builder -> builder.concurrency(5).fleetSettings(fleet))) {
            RetryPolicy later = RetryPolicy.fixed(Duration.ofMinutes(1)).maxAttempts(2);
            engine.reprise.enqueueAll(
                    Collections.nCopies(1_000, WORK.job("bad").priority(9).retry(later)));
            engine.worker.runDue();
            engine.ran.clear();
            engine.clock.advance(Duration.ofMinutes(2));
            engine.reprise.enqueueAll(
                    Collections.nCopies(10_000, WORK.job("good").priority(-9)));
            engine.worker.runDue();
            return List.copyOf(engine.ran);
        }
    }

    /** weave's rule (GO-10). */
    @Test
    void with_strict_priority_all_high_retries_precede_many_low_fresh_jobs() {
        List<String> strict = highRetriesBesideManyLowJobs("{\"queues\":{\"default\":{\"order\":\"priority\"}}}");
        assertThat(strict).hasSize(11_000);
        assertThat(strict.subList(0, 1_000)).containsOnly("bad");
    }

    @Test
    void with_a_share_high_retries_wait_for_their_share() {
        List<String> shared = highRetriesBesideManyLowJobs("{}");
        assertThat(shared).hasSize(11_000);
        assertThat(shared.lastIndexOf("bad")).isGreaterThan(1_000);
    }

    /** The rule of the MongoDB micro-queue (MG-03). */
    @Test
    void by_creation_a_retry_comes_before_all_jobs_that_came_after_it() {
        RetryPolicy late = RetryPolicy.fixed(Duration.ofSeconds(30)).jitter(Jitter.none());
        RetryPolicy soon = RetryPolicy.fixed(Duration.ofSeconds(10)).jitter(Jitter.none());
        FleetSettings settings = FleetSettings.fromJson("{\"queues\":{\"default\":{\"order\":\"creation\"}}}");
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {
                    if (payload.startsWith("old") && job.attempt() == 1) {
                        throw new IOException("once");
                    }
                },
                builder -> builder.concurrency(1).fleetSettings(settings))) {
            engine.reprise.enqueue(WORK.job("old-1").retry(late));
            engine.worker.advance(Duration.ofMillis(1));
            engine.reprise.enqueue(WORK.job("old-2").retry(soon));
            engine.worker.advance(Duration.ofSeconds(1));
            engine.reprise.as("ada", null).pause("default");
            for (int i = 0; i < 100; i++) {
                engine.reprise.enqueue(WORK.job("new-" + i));
            }
            engine.worker.advance(Duration.ofMinutes(1));
            engine.ran.clear();
            engine.reprise.as("ada", null).resume("default");
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.ran).hasSize(102);
            assertThat(engine.ran.subList(0, 4)).containsExactly("old-1", "old-2", "new-0", "new-1");
        }
    }
}
