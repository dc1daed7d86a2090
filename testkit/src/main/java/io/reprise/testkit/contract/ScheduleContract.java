// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

import io.reprise.job.AuditEntry;
import io.reprise.job.DuplicateKeyException;
import io.reprise.job.Enqueued;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import io.reprise.job.StoredSchedule;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Claim;
import io.reprise.store.Firing;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Schedules as rows: the store moves them, the engine interprets them. */
public interface ScheduleContract extends StoreFixture {

    Instant FIRST = Instant.parse("2030-01-01T00:00:00Z");
    Instant SECOND = Instant.parse("2030-01-02T00:00:00.123456Z");

    @Test
    default void a_schedule_is_kept_as_it_was_put() {
        JobSpec job = TestJobs.spec("report")
                .payload("{\"kind\":\"day\"}")
                .queue("reports")
                .priority(3)
                .delay(Duration.ofSeconds(5))
                .policy(RetryPolicy.exponential(Duration.ofSeconds(1)).maxAttempts(3))
                .resource("mail.example.com")
                .tags(Set.of("daily", "pdf"))
                .key("report", KeyRule.REPLACE)
                .timeout(Duration.ofMinutes(2))
                .schedule("nightly")
                .build();
        store().putSchedule("nightly", "0 3 * * *", job, FIRST);
        assertThat(store().schedules())
                .containsExactly(new StoredSchedule("nightly", "0 3 * * *", job, false, FIRST, null));
    }

    @Test
    default void putting_the_same_rule_again_keeps_the_next_firing() {
        put("nightly", "rule-1", FIRST);
        JobSpec changed = TestJobs.spec("other").build();
        store().putSchedule("nightly", "rule-1", changed, SECOND);
        assertThat(only("nightly").nextAt()).isEqualTo(FIRST);
        assertThat(only("nightly").job()).isEqualTo(changed);
    }

    @Test
    default void another_rule_moves_the_next_firing() {
        put("nightly", "rule-1", FIRST);
        put("nightly", "rule-2", SECOND);
        assertThat(only("nightly").nextAt()).isEqualTo(SECOND);
        assertThat(only("nightly").rule()).isEqualTo("rule-2");
    }

    @Test
    default void a_firing_moves_the_schedule_and_enqueues_in_one_step() {
        put("nightly", "rule", FIRST);
        JobSpec job = TestJobs.spec("report").schedule("nightly").build();
        Optional<List<Enqueued>> fired = store().fire("nightly", FIRST, SECOND, List.of(job, job));
        assertThat(fired).hasValueSatisfying(jobs -> {
            assertThat(jobs).hasSize(2).allMatch(Enqueued::created);
            assertThat(only("nightly").lastJob()).isEqualTo(jobs.get(1).id());
        });
        assertThat(only("nightly").nextAt()).isEqualTo(SECOND);
        assertThat(store().find(JobQuery.all().schedule("nightly")).items()).hasSize(2);
    }

    @Test
    default void a_firing_happens_once() {
        put("nightly", "rule", FIRST);
        List<JobSpec> jobs = TestJobs.many(1);
        assertThat(store().fire("nightly", FIRST, SECOND, jobs)).isPresent();
        assertThat(store().fire("nightly", FIRST, SECOND, jobs)).isEmpty();
        assertThat(store().find(JobQuery.all()).items()).hasSize(1);
    }

    @Test
    default void a_firing_may_be_skipped() {
        put("nightly", "rule", FIRST);
        assertThat(store().fire("nightly", FIRST, SECOND, List.of())).contains(List.of());
        assertThat(only("nightly").nextAt()).isEqualTo(SECOND);
        assertThat(only("nightly").lastJob()).isNull();
    }

    /** A schedule that counts from the end of its last job moves without a job, and must find that job again. */
    @Test
    default void a_firing_without_a_job_keeps_the_last_job_and_when_it_ended_is_known() {
        put("nightly", "rule", FIRST);
        JobSpec job = TestJobs.spec("report").schedule("nightly").build();
        JobId last = store().fire("nightly", FIRST, SECOND, List.of(job))
                .orElseThrow()
                .get(0)
                .id();
        assertThat(store().live(List.of(last))).containsExactly(last);
        Claim claim = claimOne();
        settle(TestSettlements.fail(claim, only(claim)));
        assertThat(store().fire("nightly", SECOND, SECOND.plusSeconds(1), List.of()))
                .contains(List.of());
        assertThat(only("nightly").lastJob()).isEqualTo(last);
        assertThat(store().live(List.of(last))).isEmpty();
        assertThat(store().findAll(List.of(last)))
                .singleElement()
                .satisfies(ended -> assertThat(ended.times().finishedAt())
                        .isNotNull()
                        .isBetween(ended.times().createdAt(), store().now()));
    }

    @Test
    default void a_schedule_that_has_ended_stays_and_is_never_due() {
        put("nightly", "rule", FIRST);
        store().fire("nightly", FIRST, StoredSchedule.NEVER, TestJobs.many(1));
        assertThat(only("nightly").ended()).isTrue();
        assertThat(store().dueSchedules(10, null)).isEmpty();
    }

    @Test
    default void a_refused_firing_does_not_move_the_schedule() {
        JobId holder = add(TestJobs.spec("report").key("report", KeyRule.KEEP));
        put("nightly", "rule", FIRST);
        JobSpec rejected = TestJobs.spec("report").key("report", KeyRule.REJECT).build();
        assertThatExceptionOfType(DuplicateKeyException.class)
                .isThrownBy(() -> store().fire("nightly", FIRST, SECOND, List.of(rejected)))
                .satisfies(e -> assertThat(e.holder()).isEqualTo(holder));
        assertThat(only("nightly").nextAt()).isEqualTo(FIRST);
    }

    @Test
    default void a_job_that_was_there_already_is_the_firings_answer() {
        JobId holder = add(TestJobs.spec("report").key("report", KeyRule.KEEP));
        put("nightly", "rule", FIRST);
        JobSpec kept = TestJobs.spec("report").key("report", KeyRule.KEEP).build();
        assertThat(store().fire("nightly", FIRST, SECOND, List.of(kept)))
                .hasValueSatisfying(
                        jobs -> assertThat(jobs).extracting(Enqueued::id).containsExactly(holder));
        assertThat(only("nightly").nextAt()).isEqualTo(SECOND);
    }

    @Test
    default void a_paused_schedule_does_not_fire_and_stays_paused() {
        put("nightly", "rule", FIRST);
        assertThat(store().pauseSchedule("nightly", true, NOTE)).isTrue();
        assertThat(store().fire("nightly", FIRST, SECOND, TestJobs.many(1))).isEmpty();
        put("nightly", "another rule", FIRST);
        assertThat(only("nightly").paused()).isTrue();
        assertThat(store().pauseSchedule("nightly", false, NOTE)).isTrue();
        assertThat(store().fire("nightly", FIRST, SECOND, TestJobs.many(1))).isPresent();
    }

    @Test
    default void pausing_a_schedule_is_audited() {
        put("nightly", "rule", FIRST);
        store().pauseSchedule("nightly", true, NOTE);
        assertThat(store().audit(null, 10)).singleElement().satisfies(entry -> {
            assertThat(entry.action()).isEqualTo("pause-schedule");
            assertThat(entry.subject()).isEqualTo("nightly");
            assertThat(entry.note()).isEqualTo(NOTE);
        });
    }

    @Test
    default void a_removed_schedule_is_gone_and_its_jobs_stay() {
        put("nightly", "rule", FIRST);
        store().fire("nightly", FIRST, SECOND, TestJobs.many(1));
        assertThat(store().removeSchedule("nightly")).isTrue();
        assertThat(store().removeSchedule("nightly")).isFalse();
        assertThat(store().schedules()).isEmpty();
        assertThat(store().find(JobQuery.all()).items()).hasSize(1);
    }

    @Test
    default void a_person_who_puts_or_removes_a_schedule_is_in_the_audit_log() {
        JobSpec job = TestJobs.spec("report").build();
        store().putSchedule("nightly", "rule", job, FIRST, NOTE.changing("more"));
        assertThat(store().removeSchedule("nightly", NOTE)).isTrue();
        assertThat(store().removeSchedule("nightly", NOTE)).isFalse();
        put("weekly", "rule", FIRST);
        assertThat(store().removeSchedule("weekly")).isTrue();
        assertThat(store().audit(null, 10, null).items())
                .extracting(AuditEntry::action, AuditEntry::subject, AuditEntry::note, AuditEntry::detail)
                .containsExactly(
                        tuple("delete-schedule", "nightly", NOTE, null),
                        tuple("put-schedule", "nightly", NOTE, "more"));
    }

    @Test
    default void a_triggered_job_and_the_person_who_triggered_it_are_stored_together() {
        JobSpec job = TestJobs.spec("report")
                .schedule("nightly")
                .key("report", KeyRule.REJECT)
                .build();
        Enqueued made = store().trigger("nightly", job, NOTE);
        assertThat(made.created()).isTrue();
        assertThat(store().find(made.id()))
                .hasValueSatisfying(
                        stored -> assertThat(stored.spec().schedule()).isEqualTo("nightly"));
        assertThatExceptionOfType(DuplicateKeyException.class).isThrownBy(() -> store().trigger("nightly", job, NOTE));
        assertThat(store().audit(null, 10, null).items())
                .extracting(AuditEntry::action, AuditEntry::subject, AuditEntry::note, AuditEntry::detail)
                .containsExactly(tuple("trigger-schedule", "nightly", NOTE, "as job " + made.id()));
    }

    @Test
    default void one_schedule_is_read_by_its_name() {
        put("nightly", "rule", FIRST);
        put("weekly", "rule", SECOND);
        assertThat(store().schedule("weekly"))
                .hasValueSatisfying(schedule -> assertThat(schedule.nextAt()).isEqualTo(SECOND));
        assertThat(store().schedule("monthly")).isEmpty();
    }

    @Test
    default void only_due_schedules_are_read_in_their_order_page_by_page() {
        Instant now = store().now();
        put("later", "rule", FIRST);
        put("paused", "rule", now.minusSeconds(9));
        store().pauseSchedule("paused", true, NOTE);
        put("c", "rule", now.minusSeconds(2));
        put("b", "rule", now.minusSeconds(1));
        put("a", "rule", now.minusSeconds(1));
        put("d", "rule", now.minusSeconds(3));
        List<StoredSchedule> first = store().dueSchedules(2, null);
        assertThat(first).extracting(StoredSchedule::name).containsExactly("d", "c");
        List<StoredSchedule> second = store().dueSchedules(1, first.get(1));
        assertThat(second).extracting(StoredSchedule::name).containsExactly("a");
        assertThat(store().dueSchedules(2, second.get(0)))
                .extracting(StoredSchedule::name)
                .containsExactly("b");
        assertThat(store().nextFiring()).contains(FIRST);
        store().removeSchedule("later");
        assertThat(store().nextFiring()).isEmpty();
    }

    @Test
    default void many_fire_in_one_step_those_that_still_stand() {
        put("a", "rule", FIRST);
        put("b", "rule", FIRST);
        put("c", "rule", FIRST);
        store().pauseSchedule("b", true, NOTE);
        List<Optional<List<Enqueued>>> fired = store().fireAll(List.of(
                new Firing("c", FIRST, SECOND, TestJobs.many(2)),
                new Firing("b", FIRST, SECOND, TestJobs.many(1)),
                new Firing("missing", FIRST, SECOND, TestJobs.many(1)),
                new Firing("a", FIRST, SECOND, List.of())));
        assertThat(fired).extracting(Optional::isPresent).containsExactly(true, false, false, true);
        assertThat(fired.get(0).orElseThrow()).hasSize(2).allMatch(Enqueued::created);
        assertThat(fired.get(3)).contains(List.of());
        assertThat(store().find(JobQuery.all()).items()).hasSize(2);
        assertThat(store().schedules()).extracting(StoredSchedule::nextAt).containsExactly(SECOND, FIRST, SECOND);
        assertThat(store().schedule("c").orElseThrow().lastJob())
                .isEqualTo(fired.get(0).orElseThrow().get(1).id());
        assertThat(store().schedule("a").orElseThrow().lastJob()).isNull();
    }

    @Test
    default void if_one_of_many_is_refused_none_fires() {
        add(TestJobs.spec("report").key("report", KeyRule.KEEP));
        put("a", "rule", FIRST);
        put("b", "rule", FIRST);
        JobSpec rejected = TestJobs.spec("report").key("report", KeyRule.REJECT).build();
        assertThatExceptionOfType(DuplicateKeyException.class)
                .isThrownBy(() -> store().fireAll(List.of(
                        new Firing("a", FIRST, SECOND, TestJobs.many(1)),
                        new Firing("b", FIRST, SECOND, List.of(rejected)))));
        assertThat(store().schedules()).extracting(StoredSchedule::nextAt).containsOnly(FIRST);
        assertThat(store().find(JobQuery.all()).items()).hasSize(1);
    }

    @Test
    default void live_jobs_are_told_from_ended_ones() {
        List<JobId> ids = add(TestJobs.many(3));
        Claim claim = claimOne(TestClaims.upTo(2));
        settle(TestSettlements.success(claim, claim.jobs().get(0)));
        assertThat(store().live(List.of(ids.get(0), ids.get(1), ids.get(2), new JobId(Long.MAX_VALUE - 1))))
                .containsExactlyInAnyOrder(ids.get(1), ids.get(2));
        assertThat(store().live(List.of())).isEmpty();
    }

    @Test
    default void a_missing_schedule_neither_fires_nor_pauses() {
        assertThat(store().fire("missing", FIRST, SECOND, TestJobs.many(1))).isEmpty();
        assertThat(store().pauseSchedule("missing", true, NOTE)).isFalse();
        assertThat(store().find(JobQuery.all()).items()).isEmpty();
        assertThat(store().audit(null, 10)).isEmpty();
    }

    private void put(String name, String rule, Instant nextAt) {
        store().putSchedule(name, rule, TestJobs.spec("report").schedule(name).build(), nextAt);
    }

    private StoredSchedule only(String name) {
        assertThat(store().schedules()).extracting(StoredSchedule::name).containsExactly(name);
        return store().schedules().get(0);
    }
}
