// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.job.AuditEntry;
import io.reprise.job.Cancellation;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.job.Page;
import io.reprise.job.WaitReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Claim;
import io.reprise.store.Requeue;
import io.reprise.store.RequeueResult;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Actions of people on jobs: requeue, discard, cancel and prune, with their audit entries. */
public interface DeadLetterContract extends StoreFixture {

    /** Puts a job back at once and changes nothing else. */
    Requeue RETRY = new Requeue("retry", Duration.ZERO, null, false, 0, Requeue.Edit.NONE);

    JobId MISSING = new JobId(Long.MAX_VALUE - 1);

    @Test
    default void a_requeued_dead_letter_waits_again_and_runs() {
        JobId id = deadLetter(TestJobs.spec("dead"));
        assertThat(store().requeue(id, RETRY, NOTE)).isEqualTo(new RequeueResult(RequeueResult.Result.DONE, id));
        Job job = read(id);
        assertThat(job.state()).isEqualTo(JobState.PENDING);
        assertThat(job.status().waitReason()).isEqualTo(WaitReason.MANUAL);
        assertThat(job.failReason()).isNull();
        assertThat(job.times().dueAt()).isNotNull();
        assertThat(job.times().finishedAt()).isNull();
        assertThat(job.times().startedAt()).isNull();
        assertThat(job.attempts()).isEqualTo(1);
        assertThat(store().attempts(id)).hasSize(1);
        succeed(claimOne());
        assertThat(read(id).attempts()).isEqualTo(2);
        assertThat(store().attempts(id)).hasSize(2);
    }

    @Test
    default void a_requeue_may_be_delayed() {
        JobId id = deadLetter(TestJobs.spec("dead"));
        Instant before = store().now();
        Duration delay = Duration.ofHours(3);
        store().requeue(id, new Requeue("retry", delay, null, false, 0, Requeue.Edit.NONE), NOTE);
        assertThat(read(id).times().dueAt())
                .isBetween(before.plus(delay), store().now().plus(delay));
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
    }

    @Test
    default void a_waiting_job_can_be_pulled_forward() {
        JobId id = add(TestJobs.spec("later").delay(Duration.ofDays(1)));
        assertThat(store().requeue(id, RETRY, NOTE).result()).isEqualTo(RequeueResult.Result.DONE);
        assertThat(only(claimOne()).id()).isEqualTo(id);
    }

    @Test
    default void a_requeue_without_window_lifts_the_deadline() {
        JobId id = deadLetter(TestJobs.spec("dead").policy(RetryPolicy.unset().deadline(Duration.ofHours(1))));
        Instant firstDueAt = read(id).times().firstDueAt();
        store().requeue(id, RETRY, NOTE);
        assertThat(read(id).times().deadline()).isNull();
        assertThat(read(id).times().firstDueAt()).isEqualTo(firstDueAt);
    }

    @Test
    default void a_requeue_with_a_window_begins_the_jobs_life_anew() {
        JobId id = deadLetter(TestJobs.spec("dead").policy(RetryPolicy.unset().deadline(Duration.ofHours(1))));
        Duration window = Duration.ofHours(2);
        store().requeue(id, new Requeue("retry", Duration.ofMinutes(5), window, false, 0, Requeue.Edit.NONE), NOTE);
        Job job = read(id);
        assertThat(job.times().firstDueAt()).isEqualTo(job.times().dueAt());
        assertThat(job.times().deadline()).isEqualTo(job.times().firstDueAt().plus(window));
    }

    @Test
    default void an_expired_job_can_be_requeued_and_run() {
        JobId id = add(TestJobs.spec("late").policy(RetryPolicy.unset().deadline(Duration.ofMillis(1))));
        await(() -> store().expire(10).size() == 1);
        store().requeue(id, RETRY, NOTE);
        succeed(claimOne());
        assertThat(read(id).state()).isEqualTo(JobState.SUCCEEDED);
    }

    @Test
    default void a_requeue_may_reset_the_counters_and_lift_suspicion() {
        JobId id = add(TestJobs.spec("dead"));
        Claim claim = claimOne();
        settle(TestSettlements.retry(claim, only(claim), Duration.ZERO));
        for (int losses = 0; losses < 2; losses++) {
            claim = claimOne();
            settle(TestSettlements.loss(claim, only(claim)));
        }
        store().requeue(id, new Requeue("replay", Duration.ZERO, null, true, 0, Requeue.Edit.NONE), NOTE);
        assertThat(read(id).counts()).isEqualTo(JobCounts.NONE);
        assertThat(claimOne(TestClaims.upTo(10).suspects(false)).alone()).isFalse();
    }

    @Test
    default void grants_add_up_until_they_are_reset() {
        JobId id = deadLetter(TestJobs.spec("dead").policy(RetryPolicy.unset().maxAttempts(1)));
        store().requeue(id, grant(2, false), NOTE);
        assertThat(read(id).counts().granted()).isEqualTo(2);
        assertThat(read(id).maxAttempts()).hasValue(3);
        store().requeue(id, grant(1, false), NOTE);
        assertThat(read(id).counts()).isEqualTo(new JobCounts(1, 0, 0, 0, 3));
        store().requeue(id, grant(4, true), NOTE);
        assertThat(read(id).counts()).isEqualTo(new JobCounts(0, 0, 0, 0, 4));
    }

    @Test
    default void a_requeue_may_change_queue_and_payload() {
        JobId id = deadLetter(TestJobs.spec("dead").payload("{\"to\":\"old\"}").priority(4));
        Requeue.Edit edit = new Requeue.Edit(false, "other", "{\"to\":\"new\"}");
        store().requeue(id, new Requeue("replay", Duration.ZERO, null, false, 0, edit), NOTE);
        assertThat(read(id).spec().payload()).isEqualTo("{\"to\":\"new\"}");
        assertThat(read(id).spec().priority()).isEqualTo(4);
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
        assertThat(count("default", JobState.FAILED)).isZero();
        assertThat(only(claimOne(TestClaims.upTo(10).from("other"))).id()).isEqualTo(id);
    }

    @Test
    default void a_requeue_under_a_new_id_leaves_nothing_of_the_old_but_the_audit() {
        JobId id = deadLetter(TestJobs.spec("dead").payload("7").idempotencyKey("once"));
        Requeue.Edit edit = new Requeue.Edit(true, null, null);
        JobId newId = store().requeue(id, new Requeue("replay", Duration.ZERO, null, true, 0, edit), NOTE)
                .id();
        assertThat(newId).isNotNull().isNotEqualTo(id);
        assertThat(store().find(id)).isEmpty();
        assertThat(store().attempts(id)).isEmpty();
        assertThat(store().find(JobQuery.all()).items()).singleElement().satisfies(job -> {
            assertThat(job.id()).isEqualTo(newId);
            assertThat(job.spec().payload()).isEqualTo("7");
            assertThat(job.status().waitReason()).isEqualTo(WaitReason.MANUAL);
            assertThat(store().attempts(job.id())).isEmpty();
        });
        assertThat(count("default", JobState.FAILED)).isZero();
        assertThat(insert(TestJobs.spec("dead").idempotencyKey("once")).id()).isEqualTo(newId);
        assertThat(store().audit(id, 10)).singleElement().satisfies(entry -> {
            assertThat(entry.action()).isEqualTo("replay");
            assertThat(entry.detail()).contains(String.valueOf(newId));
        });
        assertThat(only(claimOne()).id()).isEqualTo(newId);
    }

    @Test
    default void a_payload_that_no_job_may_have_is_refused_and_the_dead_letter_stays() {
        JobId id = deadLetter(TestJobs.spec("dead").payload("7"));
        for (String payload : List.of("\"\0\"", "x".repeat(JobSpec.MAX_PAYLOAD_BYTES + 1))) {
            for (boolean newId : List.of(false, true)) {
                assertThatIllegalArgumentException().isThrownBy(() -> {
                    Requeue.Edit edit = new Requeue.Edit(newId, null, payload);
                    store().requeue(id, new Requeue("replay", Duration.ZERO, null, true, 0, edit), NOTE);
                });
            }
        }
        assertThat(read(id).state()).isEqualTo(JobState.FAILED);
        assertThat(read(id).spec().payload()).isEqualTo("7");
    }

    @Test
    default void only_failed_and_waiting_jobs_are_requeued() {
        assertThat(store().requeue(MISSING, RETRY, NOTE))
                .isEqualTo(new RequeueResult(RequeueResult.Result.MISSING, null));
        JobId id = add(TestJobs.spec("work"));
        Claim claim = claimOne();
        assertThat(store().requeue(id, RETRY, NOTE))
                .isEqualTo(new RequeueResult(RequeueResult.Result.NOT_WAITING, null));
        succeed(claim);
        assertThat(store().requeue(id, RETRY, NOTE).result()).isEqualTo(RequeueResult.Result.NOT_WAITING);
        JobId cancelled = add(TestJobs.spec("work"));
        store().cancel(cancelled, NOTE);
        assertThat(store().requeue(cancelled, RETRY, NOTE).result()).isEqualTo(RequeueResult.Result.NOT_WAITING);
        assertThat(store().audit(id, 10)).isEmpty();
    }

    @Test
    default void a_dead_letter_whose_key_was_taken_stays_dead() {
        JobId dead = deadLetter(TestJobs.spec("work").key("order-1", KeyRule.REJECT));
        add(TestJobs.spec("work").key("order-1", KeyRule.REJECT));
        assertThat(store().requeue(dead, RETRY, NOTE))
                .isEqualTo(new RequeueResult(RequeueResult.Result.KEY_TAKEN, null));
        Requeue.Edit edit = new Requeue.Edit(true, null, null);
        Requeue renewed = new Requeue("replay", Duration.ZERO, null, true, 0, edit);
        assertThat(store().requeue(dead, renewed, NOTE).result()).isEqualTo(RequeueResult.Result.KEY_TAKEN);
        assertThat(read(dead).state()).isEqualTo(JobState.FAILED);
    }

    @Test
    default void a_requeued_job_holds_its_key_again() {
        JobId id = deadLetter(TestJobs.spec("work").key("order-1", KeyRule.KEEP));
        store().requeue(id, RETRY, NOTE);
        Enqueued again = insert(TestJobs.spec("work").key("order-1", KeyRule.KEEP));
        assertThat(again.id()).isEqualTo(id);
        assertThat(store().requeue(id, RETRY, NOTE).result()).isEqualTo(RequeueResult.Result.DONE);
    }

    @Test
    default void a_discarded_job_is_gone_with_its_history() {
        JobId id = deadLetter(TestJobs.spec("dead"));
        assertThat(store().discard(id, NOTE)).isTrue();
        assertThat(store().find(id)).isEmpty();
        assertThat(store().attempts(id)).isEmpty();
        assertThat(store().discard(id, NOTE)).isFalse();
        assertThat(store().audit(id, 10)).extracting(AuditEntry::action).containsExactly("discard");
    }

    @Test
    default void a_live_job_is_not_discarded() {
        JobId id = add(TestJobs.spec("work"));
        assertThat(store().discard(id, NOTE)).isFalse();
        claimOne();
        assertThat(store().discard(id, NOTE)).isFalse();
        assertThat(read(id).state()).isEqualTo(JobState.RUNNING);
        assertThat(store().discard(MISSING, NOTE)).isFalse();
    }

    @Test
    default void pruning_deletes_old_jobs_of_the_named_states_only() {
        JobId failed = deadLetter(TestJobs.spec("dead"));
        add(TestJobs.many(3));
        succeed(claimOne(TestClaims.upTo(2)));
        assertThat(store().prune(Set.of(JobState.SUCCEEDED), Duration.ofDays(1), 10))
                .isZero();
        awaitNextInstant();
        assertThat(store().prune(Set.of(JobState.SUCCEEDED), Duration.ZERO, 1)).isEqualTo(1);
        assertThat(store().prune(Set.of(JobState.SUCCEEDED), Duration.ZERO, 10)).isEqualTo(1);
        assertThat(store().prune(Set.of(JobState.SUCCEEDED), Duration.ZERO, 10)).isZero();
        assertThat(read(failed).state()).isEqualTo(JobState.FAILED);
        assertThat(store().find(JobQuery.all()).items()).hasSize(2);
        Set<JobState> others = Set.of(JobState.FAILED, JobState.CANCELLED);
        assertThat(store().prune(others, Duration.ZERO, 10)).isEqualTo(1);
        assertThat(store().attempts(failed)).isEmpty();
    }

    @Test
    default void a_waiting_job_is_cancelled_at_once() {
        JobId id = add(TestJobs.spec("work"));
        assertThat(store().cancel(id, NOTE)).isEqualTo(Cancellation.DONE);
        Job job = read(id);
        assertThat(job.state()).isEqualTo(JobState.CANCELLED);
        assertThat(job.times().dueAt()).isNull();
        assertThat(job.times().finishedAt()).isNotNull();
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
        assertThat(store().cancel(id, NOTE)).isEqualTo(Cancellation.TOO_LATE);
    }

    @Test
    default void a_running_job_is_asked_to_cancel() {
        JobId id = add(TestJobs.spec("work"));
        Claim claim = claimOne();
        assertThat(store().cancel(id, NOTE)).isEqualTo(Cancellation.REQUESTED);
        assertThat(store().cancel(id, NOTE)).isEqualTo(Cancellation.REQUESTED);
        assertThat(read(id).state()).isEqualTo(JobState.RUNNING);
        succeed(claim);
        assertThat(store().cancel(id, NOTE)).isEqualTo(Cancellation.TOO_LATE);
        assertThat(store().cancel(MISSING, NOTE)).isEqualTo(Cancellation.MISSING);
    }

    @Test
    default void operations_on_a_job_are_audited_newest_first() {
        JobId id = deadLetter(TestJobs.spec("dead"));
        JobId other = add(TestJobs.on("other"));
        Instant before = store().now();
        store().requeue(id, RETRY, NOTE);
        store().cancel(id, NOTE);
        store().cancel(other, NOTE);
        List<AuditEntry> entries = store().audit(id, 10);
        assertThat(entries).extracting(AuditEntry::action).containsExactly("cancel", "retry");
        assertThat(entries).allSatisfy(entry -> {
            assertThat(entry.job()).isEqualTo(id);
            assertThat(entry.note()).isEqualTo(NOTE);
            assertThat(entry.at()).isBetween(before, store().now());
        });
        assertThat(store().audit(null, 10)).hasSize(3);
    }

    @Test
    default void the_audit_log_is_read_page_by_page() {
        for (int i = 0; i < 5; i++) {
            store().note("note-" + i, "subject", NOTE, null);
        }
        List<String> actions = new ArrayList<>();
        String cursor = null;
        do {
            Page<AuditEntry> page = store().audit(null, 2, cursor);
            assertThat(page.items()).hasSizeLessThanOrEqualTo(2);
            page.items().forEach(entry -> actions.add(entry.action()));
            cursor = page.next();
        } while (cursor != null);
        assertThat(actions).containsExactly("note-4", "note-3", "note-2", "note-1", "note-0");
        assertThatThrownBy(() -> store().audit(null, 2, "nonsense")).isInstanceOf(IllegalArgumentException.class);
    }

    private static Requeue grant(int attempts, boolean reset) {
        return new Requeue("retry", Duration.ZERO, null, reset, attempts, Requeue.Edit.NONE);
    }
}
