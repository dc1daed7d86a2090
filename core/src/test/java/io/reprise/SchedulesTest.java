// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.internal.upkeep.ScheduleRule;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSignal;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
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
        assertThatThrownBy(() -> Schedule.cron("s", "0 0 30 2 *", WORK.job("a")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("schedule 's' cannot be read: '0 0 30 2 *'")
                .hasMessageContaining("never fires");
        assertThat(next("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z")).isEqualTo("2104-02-29T00:00:00Z");
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

    /** OmniQ counts its interval from the end of a task, and goes on when all retries failed. */
    @Test
    void a_fixed_delay_counts_from_the_end_of_a_job_whose_every_retry_failed() {
        JobHandler<String> handler = (payload, job) -> {
            throw new IOException("always");
        };
        try (EngineFixture engine = new EngineFixture(handler)) {
            engine.reprise.schedule(
                    Schedule.fixedDelay("check", FIVE_MINUTES, WORK.job("a").retry(EXACT))
                            .firstNow());
            engine.worker.advance(Duration.ofMinutes(16));
            // A job takes 1 + 2 + 4 s; so the jobs begin at 0:00, 5:07, 10:14 and 15:21.
            assertThat(starts(engine, "check"))
                    .containsExactly(
                            Duration.ZERO,
                            Duration.ofSeconds(307),
                            Duration.ofSeconds(2 * 307),
                            Duration.ofSeconds(3 * 307));
            assertThat(engine.reprise.find(JobQuery.deadLetters()).items()).hasSize(4);
        }
    }

    @Test
    void a_fixed_delay_waits_for_a_job_that_takes_longer_than_the_delay() {
        Set<JobId> rested = new HashSet<>();
        JobHandler<String> handler = (payload, job) -> {
            if (rested.add(job.id())) {
                throw JobSignal.snooze(Duration.ofMinutes(12));
            }
        };
        try (EngineFixture engine = new EngineFixture(handler)) {
            engine.reprise.schedule(Schedule.fixedDelay("slow", FIVE_MINUTES, WORK.job("a")));
            engine.worker.advance(Duration.ofMinutes(40));
            assertThat(starts(engine, "slow"))
                    .containsExactly(FIVE_MINUTES, Duration.ofMinutes(22), Duration.ofMinutes(39));
        }
    }

    @Test
    void a_fixed_delay_whose_last_job_was_discarded_fires_again() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            engine.reprise.schedule(
                    Schedule.fixedDelay("s", FIVE_MINUTES, WORK.job("a")).firstNow());
            engine.worker.advance(Duration.ofMinutes(1));
            engine.reprise
                    .as("ada", "tidy")
                    .discard(Objects.requireNonNull(
                            engine.reprise.findSchedule("s").orElseThrow().lastJob()));
            engine.worker.advance(Duration.ofMinutes(5));
            assertThat(engine.ran).hasSize(2);
        }
    }

    /** Returns when the jobs of a schedule were made, since the start of the test. */
    private static List<Duration> starts(EngineFixture engine, String schedule) {
        return engine.reprise.find(JobQuery.all().schedule(schedule)).items().stream()
                .map(job -> engine.sinceStart(job.times().createdAt()).truncatedTo(ChronoUnit.SECONDS))
                .sorted()
                .toList();
    }

    @Test
    void the_first_firing_is_now_if_asked_and_only_once_for_a_rule() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            Schedule hourly =
                    Schedule.every("s", Duration.ofHours(1), WORK.job("a")).firstNow();
            engine.reprise.schedule(hourly);
            engine.reprise.schedule(
                    Schedule.cron("c", "0 0 1 1 *", WORK.job("new year")).firstNow());
            engine.worker.advance(Duration.ofMinutes(1));
            engine.reprise.schedule(hourly);
            engine.worker.advance(Duration.ofMinutes(58));
            assertThat(engine.ran).containsExactlyInAnyOrder("a", "new year");
            engine.worker.advance(Duration.ofMinutes(2));
            assertThat(starts(engine, "s")).containsExactly(Duration.ZERO, Duration.ofHours(1));
        }
    }

    @Test
    void a_schedule_fires_from_its_start_to_its_end() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            Instant start = engine.start.plus(Duration.ofMinutes(90));
            Schedule hourly = Schedule.every("s", Duration.ofHours(1), WORK.job("a"))
                    .start(start)
                    .end(start.plus(Duration.ofHours(2)));
            engine.reprise.schedule(hourly);
            assertThat(engine.reprise.nextRuns("s", 10))
                    .containsExactly(start, start.plusSeconds(3600), start.plusSeconds(7200));
            engine.worker.advance(Duration.ofHours(10));
            assertThat(starts(engine, "s"))
                    .containsExactly(Duration.ofMinutes(90), Duration.ofMinutes(150), Duration.ofMinutes(210));
            assertThat(engine.reprise.findSchedule("s").orElseThrow().ended()).isTrue();
            assertThat(engine.reprise.nextRuns("s", 10)).isEmpty();
            engine.reprise.schedule(hourly.end(start.plus(Duration.ofHours(20))));
            engine.worker.advance(Duration.ofHours(1));
            assertThat(engine.ran).hasSize(4);
        }
    }

    @Test
    void firings_that_were_missed_before_the_end_are_made_up_for_only_if_each_is_wanted() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            for (Schedule.MissedFire rule : Schedule.MissedFire.values()) {
                engine.reprise.schedule(Schedule.every(rule.name(), Duration.ofHours(1), WORK.job(rule.name()))
                        .missed(rule)
                        .end(engine.start.plus(Duration.ofHours(3))));
            }
            engine.clock.advance(Duration.ofHours(5));
            engine.worker.advance(Duration.ofHours(5));
            assertThat(engine.ran).containsExactly("ALL", "ALL", "ALL");
        }
    }

    @Test
    void jitter_spreads_the_jobs_of_schedules_with_one_rule_and_keeps_the_rate() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            for (int i = 0; i < 50; i++) {
                engine.reprise.schedule(
                        Schedule.cron("s" + i, "0 * * * *", WORK.job("a")).jitter(Duration.ofMinutes(10)));
            }
            engine.worker.advance(Duration.ofMinutes(2 * 60 + 20));
            List<Job> jobs = engine.reprise.find(JobQuery.all().limit(200)).items();
            assertThat(jobs).hasSize(100).allSatisfy(job -> {
                Duration late = Duration.between(job.times().createdAt(), started(job));
                assertThat(late).isBetween(Duration.ZERO, Duration.ofMinutes(10).plusSeconds(1));
            });
            assertThat(jobs.stream().map(SchedulesTest::started).distinct().count())
                    .isGreaterThan(60);
        }
    }

    private static Instant started(Job job) {
        return Objects.requireNonNull(job.times().finishedAt());
    }

    @Test
    void what_cannot_be_is_refused_with_field_value_and_bounds() {
        Schedule hourly = Schedule.every("s", Duration.ofHours(1), WORK.job("a"));
        Schedule after = Schedule.fixedDelay("s", Duration.ofHours(1), WORK.job("a"));
        Instant noon = Instant.parse("2026-06-01T12:00:00Z");
        assertThatThrownBy(() -> Schedule.fixedDelay("s", Duration.ofMillis(1), WORK.job("a")))
                .hasMessage("fixed delay of schedule 's' must be PT1S to PT876000H, not PT0.001S");
        assertThatThrownBy(() -> hourly.jitter(Duration.ofHours(2)))
                .hasMessage("jitter of schedule 's' must be PT0S to PT1H, not PT2H");
        assertThatThrownBy(() -> hourly.start(noon).end(noon))
                .hasMessage(
                        "end of schedule 's' must be after its start 2026-06-01T12:00:00Z, not 2026-06-01T12:00:00Z");
        assertThatThrownBy(() -> hourly.end(Instant.MAX)).hasMessageContaining("end of schedule 's' must be 1970");
        assertThatThrownBy(after::allowOverlap).hasMessageContaining("cannot overlap");
        assertThatThrownBy(() -> after.missed(Schedule.MissedFire.ALL)).hasMessageContaining("must be ONCE, not ALL");
    }

    @Test
    void a_rule_is_the_same_after_it_was_stored() {
        Instant noon = Instant.parse("2026-06-01T12:00:00Z");
        Schedule plain = Schedule.every("s", Duration.ofHours(1), WORK.job("a"));
        assertThat(ScheduleRule.text(plain)).isEqualTo("every|PT1H|UTC|ONCE|false");
        Schedule full = Schedule.fixedDelay("s", Duration.ofHours(1), WORK.job("a"))
                .firstNow()
                .start(noon)
                .end(noon.plusSeconds(1))
                .jitter(Duration.ofSeconds(5));
        for (Schedule schedule : List.of(plain, plain.allowOverlap(), full)) {
            assertThat(ScheduleRule.parse("s", ScheduleRule.text(schedule)).timing())
                    .isEqualTo(schedule.timing());
        }
        assertThatThrownBy(() -> ScheduleRule.parse("s", "every|PT1H|UTC|ONCE|false|until=noon"))
                .hasMessageContaining("unknown part 'until=noon'");
    }
}
