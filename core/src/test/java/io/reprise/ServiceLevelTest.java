// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.reprise.insight.Alert;
import io.reprise.insight.GroupBacklog;
import io.reprise.insight.StartLevel;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Starts of jobs are measured against the service level of their queue. */
class ServiceLevelTest {

    private static final Queue QUEUE = Queue.of("default").startWithin(Duration.ofSeconds(10));
    private static final Duration REPORTED = Duration.ofSeconds(21);

    private static EngineFixture engine() {
        return new EngineFixture((payload, job) -> {}, builder -> builder.queues(QUEUE));
    }

    private static void enqueue(EngineFixture engine, int jobs, String group) {
        for (int i = 0; i < jobs; i++) {
            engine.reprise.enqueue(WORK.job(group + i).group(group));
        }
    }

    @Test
    void starts_are_counted_by_queue_and_group_and_late_ones_apart() {
        try (EngineFixture engine = engine()) {
            enqueue(engine, 3, "quick");
            engine.worker.runDue();
            enqueue(engine, 2, "slow");
            engine.clock.advance(Duration.ofSeconds(11));
            engine.worker.runDue();
            engine.worker.advance(REPORTED);
            assertThat(engine.reprise.startLevels(2))
                    .containsExactly(
                            new StartLevel("default", null, 5, 2),
                            new StartLevel("default", "quick", 3, 0),
                            new StartLevel("default", "slow", 2, 2));
            assertThat(engine.reprise.startLevels(2).get(0).inTime()).isEqualTo(0.6);
        }
    }

    @Test
    void a_retry_is_no_start_and_a_queue_without_a_level_is_not_measured() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            throw new IllegalStateException("never");
        })) {
            enqueue(engine, 1, "a");
            engine.worker.advance(REPORTED);
            assertThat(engine.reprise.startLevels(2)).isEmpty();
        }
    }

    @Test
    void many_late_starts_raise_an_alert_that_names_the_queue() {
        try (EngineFixture engine = engine()) {
            engine.worker.runDue();
            enqueue(engine, 30, "a");
            engine.clock.advance(Duration.ofSeconds(11));
            engine.worker.advance(REPORTED.multipliedBy(2));
            assertThat(engine.reprise.alerts()).singleElement().satisfies(alert -> {
                assertThat(alert.kind()).isEqualTo(Alert.Kind.LATE_STARTS);
                assertThat(alert.message()).isEqualTo("Late starts in queue default: 100 % of jobs (alert above 5 %)");
            });
            engine.worker.advance(Duration.ofMinutes(12));
            assertThat(engine.reprise.alerts()).isEmpty();
        }
    }

    @Test
    void groups_with_most_jobs_come_first() {
        try (EngineFixture engine = engine()) {
            enqueue(engine, 2, "few");
            enqueue(engine, 5, "many");
            enqueue(engine, 1, "one");
            assertThat(engine.reprise.topGroups("default", 2))
                    .containsExactly(new GroupBacklog("default", "many", 5), new GroupBacklog("default", "few", 2));
            assertThat(engine.reprise.topGroups()).hasSize(3).contains(new GroupBacklog("default", "one", 1));
        }
    }

    @Test
    void late_jobs_come_first_only_where_a_level_says_what_is_late() {
        assertThat(QUEUE.lateFirst().groups().isLateFirst()).isTrue();
        assertThatIllegalStateException()
                .isThrownBy(() -> Queue.of("mail").lateFirst())
                .withMessageContaining("startWithin");
    }

    @Test
    void a_level_of_no_time_is_refused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Queue.of("mail").startWithin(Duration.ZERO))
                .withMessageContaining("startWithin must be 1 ms to 30 days");
    }
}
