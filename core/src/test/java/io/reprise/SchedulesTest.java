// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.internal.upkeep.ScheduleRule;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSignal;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.junit.jupiter.api.Test;

class SchedulesTest {

    private static final Duration FIVE_MINUTES = Duration.ofMinutes(5);

    @Test
    void an_interval_fires_at_a_fixed_rate() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            engine.reprise.schedule(Schedule.every("tick", FIVE_MINUTES, WORK.job("a")));
            engine.worker.advance(Duration.ofMinutes(21));
            assertThat(engine.ran).hasSize(4);
        }
    }

    /** Seeds §9, check 3 (OQ-18, OQ-B3). */
    @Test
    void check_03_an_interval_job_whose_every_retry_fails_still_fires_next_time() {
        JobHandler<String> handler = (payload, job) -> {
            throw new IOException("always");
        };
        try (EngineFixture engine = new EngineFixture(handler)) {
            engine.reprise.schedule(
                    Schedule.every("check", FIVE_MINUTES, WORK.job("a").retry(EXACT)));
            engine.worker.advance(Duration.ofMinutes(26));
            assertThat(engine.reprise
                            .find(JobQuery.deadLetters().schedule("check"))
                            .items())
                    .hasSize(5);
            assertThat(engine.ran).hasSize(20);
        }
    }

    @Test
    void a_schedule_does_not_fire_over_an_unfinished_job_unless_asked() {
        JobHandler<String> handler = (payload, job) -> {
            throw JobSignal.snooze(Duration.ofMinutes(12));
        };
        try (EngineFixture engine = new EngineFixture(handler)) {
            engine.reprise.schedule(Schedule.every("alone", FIVE_MINUTES, WORK.job("a")));
            engine.reprise.schedule(
                    Schedule.every("many", FIVE_MINUTES, WORK.job("b")).allowOverlap());
            engine.worker.advance(Duration.ofMinutes(16));
            assertThat(engine.reprise.find(JobQuery.all().schedule("alone")).items())
                    .hasSize(1);
            assertThat(engine.reprise.find(JobQuery.all().schedule("many")).items())
                    .hasSize(3);
        }
    }

    @Test
    void missed_firings_are_made_up_for_once_never_or_each() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            for (Schedule.MissedFire rule : Schedule.MissedFire.values()) {
                engine.reprise.schedule(Schedule.every(rule.name(), Duration.ofHours(1), WORK.job(rule.name()))
                        .missed(rule));
            }
            // Nobody is there for three and a half hours.
            engine.clock.advance(Duration.ofMinutes(210));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.ran).containsOnlyOnce("ONCE").doesNotContain("SKIP");
            assertThat(engine.ran.stream().filter("ALL"::equals)).hasSize(3);
            engine.worker.advance(Duration.ofMinutes(30));
            assertThat(engine.ran).contains("SKIP");
        }
    }

    @Test
    void a_paused_schedule_waits_and_a_removed_one_is_gone() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            engine.reprise.schedule(Schedule.every("tick", FIVE_MINUTES, WORK.job("a")));
            engine.reprise.as("ada", "maintenance").pauseSchedule("tick");
            engine.worker.advance(Duration.ofMinutes(11));
            assertThat(engine.ran).isEmpty();
            engine.reprise.as("ada", "done").resumeSchedule("tick");
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.ran).hasSize(1);
            assertThat(engine.reprise.unschedule("tick")).isTrue();
            engine.worker.advance(Duration.ofHours(1));
            assertThat(engine.ran).hasSize(1);
        }
    }

    private static Instant next(String cron, String zone, String after) {
        Schedule schedule = Schedule.cron("s", cron, WORK.job("a")).zone(ZoneId.of(zone));
        Instant from = Instant.parse(after);
        return ScheduleRule.parse("s", ScheduleRule.text(schedule)).next(from, from);
    }

    @Test
    void a_cron_expression_is_read_in_its_zone() {
        assertThat(next("0 3 * * *", "UTC", "2026-06-01T02:00:00Z")).isEqualTo("2026-06-01T03:00:00Z");
        assertThat(next("0 3 * * *", "Europe/Paris", "2026-06-01T00:00:00Z")).isEqualTo("2026-06-01T01:00:00Z");
        assertThat(next("*/10 * * * * *", "UTC", "2026-06-01T00:00:01Z")).isEqualTo("2026-06-01T00:00:10Z");
        assertThat(next("0 9 * * MON-FRI", "UTC", "2026-06-05T10:00:00Z")).isEqualTo("2026-06-08T09:00:00Z");
    }

    @Test
    void a_time_that_spring_skips_fires_right_after_the_gap() {
        // In Paris 02:00 to 03:00 does not exist on 29 March 2026.
        assertThat(next("30 2 * * *", "Europe/Paris", "2026-03-28T12:00:00Z")).isEqualTo("2026-03-29T01:00:00Z");
        assertThat(next("30 2 * * *", "Europe/Paris", "2026-03-29T01:00:00Z")).isEqualTo("2026-03-30T00:30:00Z");
    }

    @Test
    void a_time_that_autumn_repeats_fires_once() {
        // In Paris 02:30 comes twice on 25 October 2026: at 00:30Z and at 01:30Z.
        assertThat(next("30 2 * * *", "Europe/Paris", "2026-10-24T12:00:00Z")).isEqualTo("2026-10-25T00:30:00Z");
        assertThat(next("30 2 * * *", "Europe/Paris", "2026-10-25T00:30:00Z")).isEqualTo("2026-10-26T01:30:00Z");
        assertThat(next("30 2 * * *", "Europe/Paris", "2026-10-25T01:10:00Z")).isEqualTo("2026-10-26T01:30:00Z");
    }

    @Test
    void a_cron_for_every_few_minutes_runs_on_through_the_jumps() {
        assertThat(next("*/30 * * * *", "Europe/Paris", "2026-10-25T00:30:00Z")).isEqualTo("2026-10-25T01:00:00Z");
        assertThat(next("*/30 * * * *", "Europe/Paris", "2026-10-25T01:00:00Z")).isEqualTo("2026-10-25T01:30:00Z");
        assertThat(next("*/30 * * * *", "Europe/Paris", "2026-10-25T01:30:00Z")).isEqualTo("2026-10-25T02:00:00Z");
        assertThat(next("*/30 * * * *", "Europe/Paris", "2026-03-29T00:30:00Z")).isEqualTo("2026-03-29T01:00:00Z");
        assertThat(next("*/30 * * * *", "Europe/Paris", "2026-03-29T01:00:00Z")).isEqualTo("2026-03-29T01:30:00Z");
    }

    @Test
    void a_cron_expression_that_is_none_is_refused_by_name() {
        assertThatThrownBy(() -> next("61 * * * *", "UTC", "2026-06-01T00:00:00Z"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("schedule 's'")
                .hasMessageContaining("61");
        assertThatThrownBy(() -> Schedule.every("s", Duration.ZERO, WORK.job("a")))
                .hasMessageContaining("interval of schedule 's'");
    }

    @Test
    void a_thousand_due_at_once_all_fire_and_none_is_merged() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, builder -> builder.concurrency(1_000))) {
            for (int i = 0; i < 1_000; i++) {
                engine.reprise.schedule(Schedule.cron("s" + i, "*/20 * * * * *", WORK.job("s" + i)));
            }
            engine.worker.advance(Duration.ofSeconds(41));
            assertThat(engine.ran).hasSize(2 * 1_000);
        }
    }

    /** A firing that waits for its last job is due all the time, and must not stand before the others. */
    @Test
    void schedules_behind_hundreds_that_wait_for_their_last_job_fire() {
        try (EngineFixture engine =
                new EngineFixture((payload, job) -> {}, builder -> builder.queues(Queue.of("elsewhere")))) {
            for (int i = 0; i < 250; i++) {
                engine.reprise.schedule(Schedule.every("busy" + i, FIVE_MINUTES, WORK.job("busy"))
                        .missed(Schedule.MissedFire.ALL));
            }
            engine.worker.advance(Duration.ofMinutes(11));
            engine.reprise.schedule(
                    Schedule.every("z", FIVE_MINUTES, WORK.job("z").queue("elsewhere")));
            engine.worker.advance(Duration.ofMinutes(6));
            assertThat(engine.ran).containsExactly("z");
        }
    }
}
