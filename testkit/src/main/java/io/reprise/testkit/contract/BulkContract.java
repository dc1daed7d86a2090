// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.AuditEntry;
import io.reprise.job.Cancellation;
import io.reprise.job.Job;
import io.reprise.job.JobChange;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.job.WaitReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Claim;
import io.reprise.store.Requeue;
import io.reprise.store.RequeueResult;
import io.reprise.testkit.fixture.Crowd;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Operations on many jobs in one call have the effect of an operation on each job alone. */
public interface BulkContract extends StoreFixture {

    JobId NOBODY = new JobId(Long.MAX_VALUE - 1);

    private List<JobId> deadLetters(int count) {
        List<JobId> ids = add(TestJobs.many(count));
        Claim claim = claimOne(TestClaims.upTo(count));
        store().settle(
                        claim.jobs().stream()
                                .map(job -> TestSettlements.fail(claim, job))
                                .toList(),
                        List.of());
        return ids;
    }

    private static Requeue replay(@Nullable Duration window) {
        return new Requeue("replay", Duration.ZERO, window, true, 0, Requeue.Edit.NONE);
    }

    @Test
    default void many_dead_letters_are_put_back_each_as_told() {
        List<JobId> ids = deadLetters(5);
        Map<JobId, Requeue> requeues = new LinkedHashMap<>();
        requeues.put(ids.get(0), replay(null));
        requeues.put(ids.get(1), replay(Duration.ofHours(1)));
        requeues.put(ids.get(2), new Requeue("replay", Duration.ofHours(1), null, false, 2, Requeue.Edit.NONE));
        requeues.put(
                ids.get(3),
                new Requeue("replay", Duration.ZERO, null, false, 0, new Requeue.Edit(false, "b", "{\"n\":2}")));
        Map<JobId, RequeueResult> answers = store().requeueAll(requeues, NOTE);
        assertThat(answers).hasSize(4);
        answers.forEach(
                (id, requeued) -> assertThat(requeued).isEqualTo(new RequeueResult(RequeueResult.Result.DONE, id)));
        Job first = read(ids.get(0));
        assertThat(first.state()).isEqualTo(JobState.PENDING);
        assertThat(first.status().waitReason()).isEqualTo(WaitReason.MANUAL);
        assertThat(first.counts()).isEqualTo(JobCounts.NONE);
        assertThat(first.times().deadline()).isNull();
        assertThat(read(ids.get(1)).times().deadline())
                .isEqualTo(read(ids.get(1)).times().firstDueAt().plus(Duration.ofHours(1)));
        assertThat(read(ids.get(2)).counts().granted()).isEqualTo(2);
        assertThat(read(ids.get(2)).attempts()).isEqualTo(1);
        assertThat(read(ids.get(3)).queue()).isEqualTo("b");
        assertThat(read(ids.get(3)).spec().payload()).isEqualTo("{\"n\":2}");
        assertThat(read(ids.get(4)).state()).isEqualTo(JobState.FAILED);
        assertThat(count("default", JobState.FAILED)).isEqualTo(1);
        assertThat(TestClaims.ids(claim(TestClaims.upTo(10).from("default", "b"))))
                .containsExactlyInAnyOrder(ids.get(0), ids.get(1), ids.get(3));
        assertThat(store().audit(ids.get(3), 10)).singleElement().satisfies(entry -> {
            assertThat(entry.action()).isEqualTo("replay");
            assertThat(entry.note()).isEqualTo(NOTE);
            assertThat(entry.detail()).contains("to queue b");
        });
    }

    @Test
    default void of_many_those_that_cannot_be_put_back_are_refused_each_with_its_reason() {
        JobId dead = deadLetter(TestJobs.spec("dead"));
        JobId taken = deadLetter(TestJobs.spec("dead").key("k", KeyRule.KEEP));
        add(TestJobs.spec("holder").key("k", KeyRule.KEEP).delay(Duration.ofHours(1)));
        JobId renewed = deadLetter(TestJobs.spec("dead"));
        JobId pending = add(TestJobs.spec("work").delay(Duration.ofHours(1)));
        Map<JobId, Requeue> requeues = new LinkedHashMap<>();
        for (JobId id : List.of(dead, taken, pending, NOBODY)) {
            requeues.put(id, replay(null));
        }
        requeues.put(renewed, new Requeue("replay", Duration.ZERO, null, true, 0, new Requeue.Edit(true, null, null)));
        Map<JobId, RequeueResult> answers = store().requeueAll(requeues, NOTE);
        assertThat(answers.get(dead)).isEqualTo(new RequeueResult(RequeueResult.Result.DONE, dead));
        assertThat(answers.get(taken)).isEqualTo(new RequeueResult(RequeueResult.Result.KEY_TAKEN, null));
        assertThat(answers.get(pending)).isEqualTo(new RequeueResult(RequeueResult.Result.DONE, pending));
        assertThat(answers.get(NOBODY)).isEqualTo(new RequeueResult(RequeueResult.Result.MISSING, null));
        assertThat(Objects.requireNonNull(answers.get(renewed)).id())
                .isNotNull()
                .isNotEqualTo(renewed);
        assertThat(read(taken).state()).isEqualTo(JobState.FAILED);
        assertThat(read(pending).status().waitReason()).isEqualTo(WaitReason.MANUAL);
    }

    @Test
    default void many_are_cancelled_and_what_follows_them_is_stored() {
        List<JobId> ids = add(TestJobs.many(4));
        Claim claim = claimOne(TestClaims.upTo(1));
        JobId running = only(claim).id();
        Map<JobId, Cancellation> answers = store().cancelAll(
                        List.of(ids.get(0), ids.get(1), ids.get(2), NOBODY),
                        NOTE,
                        job -> List.of(TestJobs.spec("follow").queue("after").build()));
        assertThat(answers)
                .containsEntry(running, Cancellation.REQUESTED)
                .containsEntry(NOBODY, Cancellation.MISSING)
                .hasSize(4);
        assertThat(answers.values()).filteredOn(Cancellation.DONE::equals).hasSize(2);
        assertThat(count("default", JobState.CANCELLED)).isEqualTo(2);
        assertThat(count("after", JobState.PENDING)).isEqualTo(2);
        assertThat(read(ids.get(3)).state()).isEqualTo(JobState.PENDING);
        assertThat(store().cancelAll(List.of(ids.get(1)), NOTE, job -> List.<JobSpec>of()))
                .containsEntry(ids.get(1), Cancellation.TOO_LATE);
        assertThat(store().audit(ids.get(1), 10)).extracting(AuditEntry::action).containsExactly("cancel");
    }

    @Test
    default void many_that_ended_are_discarded_and_the_others_stay() {
        List<JobId> ids = deadLetters(3);
        JobId pending = add(TestJobs.spec("work"));
        assertThat(store().discardAll(List.of(ids.get(0), ids.get(2), pending, NOBODY), NOTE))
                .isEqualTo(Set.of(ids.get(0), ids.get(2)));
        assertThat(store().find(JobQuery.all()).items())
                .extracting(Job::id)
                .containsExactlyInAnyOrder(ids.get(1), pending);
        assertThat(store().attempts(ids.get(0))).isEmpty();
        assertThat(count("default", JobState.FAILED)).isEqualTo(1);
        assertThat(store().audit(ids.get(0), 10)).extracting(AuditEntry::action).containsExactly("discard");
        assertThat(store().audit(pending, 10)).isEmpty();
    }

    @Test
    default void many_jobs_are_read_at_once() {
        List<JobId> ids = deadLetters(2);
        JobId pending = add(TestJobs.spec("work"));
        assertThat(store().findAll(List.of(ids.get(1), NOBODY, pending)))
                .containsExactlyInAnyOrder(read(ids.get(1)), read(pending));
    }

    @Test
    default void of_two_who_put_the_same_dead_letters_back_each_is_put_back_once() {
        List<JobId> ids = deadLetters(40);
        Map<JobId, Requeue> requeues = new LinkedHashMap<>();
        ids.forEach(id -> requeues.put(id, replay(null)));
        Crowd.run(3, person -> store().requeueAll(requeues, NOTE));
        assertThat(TestClaims.ids(claim(TestClaims.upTo(100)))).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(count("default", JobState.FAILED)).isZero();
    }

    private JobChange.Answer change(JobId id, JobChange change) {
        return Objects.requireNonNull(
                store().changeAll(Map.of(id, change), NOTE).get(id));
    }

    @Test
    default void a_waiting_job_is_changed_in_every_way_and_keeps_the_rest() {
        RetryPolicy before = RetryPolicy.unset().maxAttempts(3).deadline(Duration.ofDays(2));
        JobId id =
                add(TestJobs.spec("work").key("k", KeyRule.KEEP).policy(before).delay(Duration.ofHours(1)));
        Job old = read(id);
        Instant at = store().now().plus(Duration.ofHours(3)).truncatedTo(ChronoUnit.MICROS);
        RetryPolicy after = RetryPolicy.unset().maxAttempts(9).deadline(Duration.ofDays(4));
        JobChange all = JobChange.NONE
                .at(at)
                .withPriority(7)
                .toQueue("other")
                .withPolicy(after)
                .withPayload("{\"n\":2}");
        assertThat(change(id, all)).isEqualTo(JobChange.Answer.DONE);
        Job job = read(id);
        assertThat(job.times().dueAt()).isEqualTo(at);
        assertThat(job.times().firstDueAt()).isEqualTo(old.times().firstDueAt());
        assertThat(job.times().deadline()).isEqualTo(old.times().firstDueAt().plus(Duration.ofDays(4)));
        assertThat(job.times().createdAt()).isEqualTo(old.times().createdAt());
        assertThat(job.status().waitReason()).isEqualTo(WaitReason.DELAYED);
        assertThat(job.spec().priority()).isEqualTo(7);
        assertThat(job.queue()).isEqualTo("other");
        assertThat(job.policy()).isEqualTo(after);
        assertThat(job.spec().payload()).isEqualTo("{\"n\":2}");
        assertThat(job.spec().key()).isEqualTo("k");
        assertThat(store().audit(id, 10)).singleElement().satisfies(entry -> {
            assertThat(entry.action()).isEqualTo("change");
            assertThat(entry.note()).isEqualTo(NOTE);
            assertThat(entry.detail())
                    .contains("due at " + at, "priority 7", "to queue other", "another policy", "payload edited");
        });
    }

    @Test
    default void a_change_of_one_thing_leaves_all_others() {
        JobId id = add(TestJobs.spec("work")
                .priority(2)
                .policy(RetryPolicy.unset().maxAttempts(3).deadline(Duration.ofDays(2)))
                .delay(Duration.ofHours(1)));
        Job old = read(id);
        assertThat(change(id, JobChange.NONE.withPriority(-3))).isEqualTo(JobChange.Answer.DONE);
        Job job = read(id);
        assertThat(job.times()).isEqualTo(old.times());
        assertThat(job.status()).isEqualTo(old.status());
        assertThat(job.spec()).isEqualTo(old.spec().toBuilder().priority(-3).build());
    }

    @Test
    default void a_job_that_runs_or_has_ended_is_not_changed() {
        JobId running = add(TestJobs.spec("work"));
        Claim claim = claimOne(TestClaims.upTo(1));
        JobId dead = deadLetter(TestJobs.spec("dead"));
        JobChange change = JobChange.NONE.withPriority(5).toQueue("other");
        Map<JobId, JobChange> all = Map.of(running, change, dead, change, NOBODY, change);
        assertThat(store().changeAll(all, NOTE))
                .isEqualTo(Map.of(
                        running, JobChange.Answer.RUNNING,
                        dead, JobChange.Answer.ENDED,
                        NOBODY, JobChange.Answer.MISSING));
        assertThat(read(running).spec().priority()).isZero();
        assertThat(read(dead).queue()).isEqualTo("default");
        assertThat(store().audit(running, 10)).isEmpty();
        assertThat(store().settle(List.of(TestSettlements.success(claim, only(claim))))
                        .stale())
                .isEmpty();
    }

    @Test
    default void a_due_time_in_the_past_or_beyond_the_deadline_is_refused() {
        JobId id = add(TestJobs.spec("work")
                .policy(RetryPolicy.unset().deadline(Duration.ofHours(2)))
                .delay(Duration.ofHours(1)));
        Job old = read(id);
        Instant deadline = Objects.requireNonNull(old.times().deadline());
        Instant past = store().now().minus(Duration.ofMinutes(1));
        assertThat(change(id, JobChange.NONE.at(past))).isEqualTo(JobChange.Answer.PAST);
        assertThat(change(id, JobChange.NONE.at(deadline))).isEqualTo(JobChange.Answer.BEYOND_DEADLINE);
        RetryPolicy shorter = RetryPolicy.unset().deadline(Duration.ofMillis(1));
        assertThat(change(id, JobChange.NONE.at(deadline.minusSeconds(1)).withPolicy(shorter)))
                .isEqualTo(JobChange.Answer.BEYOND_DEADLINE);
        assertThat(read(id)).isEqualTo(old);
        assertThat(store().audit(id, 10)).isEmpty();
        assertThat(change(id, JobChange.NONE.at(deadline.minusSeconds(1)))).isEqualTo(JobChange.Answer.DONE);
    }

    @Test
    default void a_retry_that_waits_is_made_due_and_claimed() {
        JobId id = add(TestJobs.spec("work"));
        Claim first = claimOne(TestClaims.upTo(1));
        store().settle(List.of(TestSettlements.retry(first, only(first), Duration.ofHours(1))));
        assertThat(claim(TestClaims.upTo(1))).isEmpty();
        Instant soon = store().now().plus(Duration.ofMinutes(1)).truncatedTo(ChronoUnit.MICROS);
        assertThat(change(id, JobChange.NONE.at(soon))).isEqualTo(JobChange.Answer.DONE);
        assertThat(read(id).nextRetryAt()).isEqualTo(soon);
        assertThat(read(id).attempts()).isEqualTo(1);
    }

    @Test
    default void a_job_with_a_new_priority_is_claimed_in_its_new_place() {
        List<JobId> ids = add(TestJobs.many(120));
        JobId last = ids.get(119);
        claimOne(TestClaims.upTo(110));
        assertThat(change(last, JobChange.NONE.withPriority(9))).isEqualTo(JobChange.Answer.DONE);
        assertThat(TestClaims.ids(claim(TestClaims.upTo(1)))).containsExactly(last);
    }

    @Test
    default void a_parked_job_stays_parked_unless_it_is_moved() {
        JobId id = add(TestJobs.spec("work"));
        Claim claim = claimOne(TestClaims.upTo(1));
        store().settle(List.of(TestSettlements.park(claim, only(claim), "mail")));
        assertThat(change(id, JobChange.NONE.withPriority(3))).isEqualTo(JobChange.Answer.DONE);
        assertThat(store().parkedBy()).containsExactly("mail");
        assertThat(claim(TestClaims.upTo(1))).isEmpty();
        assertThat(change(id, JobChange.NONE.toQueue("other"))).isEqualTo(JobChange.Answer.DONE);
        assertThat(store().parkedBy()).isEmpty();
        assertThat(read(id).status().waitReason()).isEqualTo(WaitReason.MANUAL);
        assertThat(TestClaims.ids(claim(TestClaims.upTo(1).from("other")))).containsExactly(id);
    }

    @Test
    default void many_are_changed_while_others_claim_and_none_is_changed_while_it_runs() {
        List<JobId> ids = add(TestJobs.many(200));
        Map<JobId, JobChange> changes = new LinkedHashMap<>();
        ids.forEach(id -> changes.put(id, JobChange.NONE.toQueue("other")));
        Set<JobId> claimed = ConcurrentHashMap.newKeySet();
        Map<JobId, JobChange.Answer> answers = new ConcurrentHashMap<>();
        Crowd.run(2, thread -> {
            if (thread == 0) {
                answers.putAll(store().changeAll(changes, NOTE));
            } else {
                for (int i = 0; i < 20; i++) {
                    claimed.addAll(TestClaims.ids(claim(TestClaims.upTo(10))));
                }
            }
        });
        assertThat(answers).hasSize(200);
        for (JobId id : ids) {
            boolean runs = claimed.contains(id);
            assertThat(answers.get(id)).isEqualTo(runs ? JobChange.Answer.RUNNING : JobChange.Answer.DONE);
            assertThat(read(id).queue()).isEqualTo(runs ? "default" : "other");
        }
    }

    @Test
    default void a_requeue_may_name_its_time() {
        JobId id = deadLetter(TestJobs.spec("dead"));
        JobId other = deadLetter(TestJobs.spec("dead").key("k", KeyRule.KEEP));
        Instant at = store().now().plus(Duration.ofDays(1)).truncatedTo(ChronoUnit.MICROS);
        Requeue then = new Requeue("retry", Duration.ZERO, at, Duration.ofHours(1), false, 1, Requeue.Edit.NONE);
        store().requeueAll(Map.of(id, then, other, then), NOTE);
        for (JobId each : List.of(id, other)) {
            assertThat(read(each).times().dueAt()).isEqualTo(at);
            assertThat(read(each).times().firstDueAt()).isEqualTo(at);
            assertThat(read(each).times().deadline()).isEqualTo(at.plus(Duration.ofHours(1)));
        }
        Requeue past = new Requeue("retry", Duration.ZERO, Instant.EPOCH, null, false, 1, Requeue.Edit.NONE);
        store().requeue(id, past, NOTE);
        assertThat(read(id).times().dueAt()).isAfter(at.minus(Duration.ofDays(2)));
    }
}
