// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.batches;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.reprise.job.DuplicateKeyException;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobChange;
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
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Under FOLLOW, one more job runs after the one that holds the key. */
public interface KeyFollowerContract extends StoreFixture {

    /** A retry by hand, due at once. */
    Requeue NOW = new Requeue("retry", Duration.ZERO, null, false, 0, Requeue.Edit.NONE);

    @Test
    default void behind_a_running_job_one_more_is_stored_and_waits() {
        JobId holder = add(follow().payload("1"));
        claimOne();
        Enqueued next = insert(follow().payload("2"));
        assertThat(next.created()).isTrue();
        assertThat(next.id()).isNotEqualTo(holder);
        Job waiting = read(next.id());
        assertThat(waiting.state()).isEqualTo(JobState.PENDING);
        assertThat(waiting.status().waitReason()).isEqualTo(WaitReason.FOLLOW);
        assertThat(waiting.spec().key()).isEqualTo("order-1");
        assertThat(waiting.spec().keyRule()).isEqualTo(KeyRule.FOLLOW);
        assertThat(waiting.times().dueAt()).isEqualTo(next.dueAt());
        assertThat(store().letFollow(10)).isZero();
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
    }

    @Test
    default void it_is_due_when_the_holder_has_ended_and_then_holds_the_key() {
        add(follow().payload("1"));
        Claim claim = claimOne();
        JobId next = insert(follow().payload("2")).id();
        succeed(claim);
        assertThat(store().letFollow(10)).isEqualTo(1);
        assertThat(store().letFollow(10)).isZero();
        assertThat(read(next).status().waitReason()).isEqualTo(WaitReason.NEW);
        Claim second = claimOne();
        assertThat(only(second).id()).isEqualTo(next);
        assertThat(insert(TestJobs.spec("work").key("order-1", KeyRule.KEEP)).id())
                .isEqualTo(next);
        succeed(second);
        assertThat(insert(TestJobs.spec("work").key("order-1", KeyRule.REJECT)).created())
                .isTrue();
    }

    @Test
    default void later_requests_replace_the_one_that_waits() {
        add(follow().payload("1"));
        Claim claim = claimOne();
        JobId next = insert(follow().payload("2")).id();
        Enqueued again = insert(follow().payload("3").priority(3));
        assertThat(again.created()).isFalse();
        assertThat(again.id()).isEqualTo(next);
        assertThat(read(next).status().waitReason()).isEqualTo(WaitReason.FOLLOW);
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
        succeed(claim);
        // The key is free, and nobody has let the job go yet: it is still the one that takes the request.
        assertThat(insert(follow().payload("4")).id()).isEqualTo(next);
        assertThat(store().letFollow(10)).isEqualTo(1);
        assertThat(only(claimOne()).spec().payload()).isEqualTo("4");
        assertThat(store().find(JobQuery.all()).items()).hasSize(2);
    }

    @Test
    default void a_holder_that_has_not_begun_is_replaced() {
        JobId holder = add(follow().payload("1").delay(Duration.ofHours(1)));
        Enqueued again = insert(follow().payload("2"));
        assertThat(again.created()).isFalse();
        assertThat(again.id()).isEqualTo(holder);
        assertThat(only(claimOne()).spec().payload()).isEqualTo("2");
        assertThat(store().find(JobQuery.all()).items()).hasSize(1);
    }

    @Test
    default void a_holder_that_waits_for_a_retry_is_followed_when_it_has_ended() {
        JobId holder = add(follow().payload("1"));
        Claim claim = claimOne();
        settle(TestSettlements.retry(claim, only(claim), Duration.ZERO));
        JobId next = insert(follow().payload("2")).id();
        assertThat(next).isNotEqualTo(holder);
        assertThat(store().letFollow(10)).isZero();
        Claim retried = claimOne();
        assertThat(only(retried).id()).isEqualTo(holder);
        assertThat(only(retried).spec().payload()).isEqualTo("1");
        settle(TestSettlements.fail(retried, only(retried)));
        assertThat(store().letFollow(10)).isEqualTo(1);
        assertThat(only(claimOne()).id()).isEqualTo(next);
    }

    @Test
    default void other_rules_meet_the_holder_and_not_the_one_that_waits() {
        JobId holder = add(follow());
        claimOne();
        insert(follow());
        assertThat(insert(TestJobs.spec("work").key("order-1", KeyRule.KEEP)).id())
                .isEqualTo(holder);
        for (KeyRule rule : List.of(KeyRule.REJECT, KeyRule.REPLACE)) {
            assertThatExceptionOfType(DuplicateKeyException.class)
                    .isThrownBy(() -> insert(TestJobs.spec("work").key("order-1", rule)))
                    .satisfies(e -> assertThat(e.holder()).isEqualTo(holder));
        }
    }

    @Test
    default void a_job_that_takes_the_free_key_first_is_waited_for_too() {
        add(follow().payload("1"));
        Claim claim = claimOne();
        JobId next = insert(follow().payload("2")).id();
        succeed(claim);
        JobId between = add(TestJobs.spec("work").key("order-1", KeyRule.KEEP));
        assertThat(store().letFollow(10)).isZero();
        Claim second = claimOne();
        assertThat(only(second).id()).isEqualTo(between);
        succeed(second);
        assertThat(store().letFollow(10)).isEqualTo(1);
        assertThat(only(claimOne()).id()).isEqualTo(next);
    }

    @Test
    default void its_delay_and_deadline_begin_at_the_end_of_the_holder() {
        add(follow());
        Claim claim = claimOne();
        JobId next = insert(follow().policy(RetryPolicy.unset().deadline(Duration.ofHours(3)))
                        .delay(Duration.ofHours(1)))
                .id();
        assertThat(store().expire(10)).isEmpty();
        succeed(claim);
        Instant before = store().now();
        assertThat(store().letFollow(10)).isEqualTo(1);
        Job job = read(next);
        assertThat(job.status().waitReason()).isEqualTo(WaitReason.DELAYED);
        assertThat(job.times().dueAt())
                .isBetween(before.plus(Duration.ofHours(1)), store().now().plus(Duration.ofHours(1)));
        assertThat(job.times().deadline()).isEqualTo(job.times().firstDueAt().plus(Duration.ofHours(3)));
    }

    @Test
    default void one_that_is_cancelled_leaves_its_place_to_the_next() {
        add(follow());
        Claim claim = claimOne();
        JobId first = insert(follow()).id();
        store().cancel(first, NOTE);
        Enqueued second = insert(follow().payload("2"));
        assertThat(second.created()).isTrue();
        assertThat(second.id()).isNotEqualTo(first);
        assertThat(read(first).state()).isEqualTo(JobState.CANCELLED);
        assertThat(read(first).spec().key()).isEqualTo("order-1");
        succeed(claim);
        assertThat(store().letFollow(10)).isEqualTo(1);
        assertThat(only(claimOne()).id()).isEqualTo(second.id());
    }

    @Test
    default void nobody_retries_it_by_hand_while_the_holder_lives() {
        add(follow());
        Claim claim = claimOne();
        JobId next = insert(follow()).id();
        assertThat(store().requeue(next, NOW, NOTE).result()).isEqualTo(RequeueResult.Result.KEY_TAKEN);
        succeed(claim);
        assertThat(store().requeue(next, NOW, NOTE).result()).isEqualTo(RequeueResult.Result.DONE);
        assertThat(store().letFollow(10)).isZero();
        assertThat(only(claimOne()).id()).isEqualTo(next);
    }

    @Test
    default void a_change_by_hand_keeps_it_waiting() {
        add(follow());
        Claim claim = claimOne();
        JobId next = insert(follow()).id();
        JobChange sooner = JobChange.NONE.at(store().now().plus(Duration.ofHours(1)));
        assertThat(store().changeAll(Map.of(next, sooner), NOTE)).containsEntry(next, JobChange.Answer.FOLLOWS);
        JobChange moved = JobChange.NONE.toQueue("other").withPriority(3);
        assertThat(store().changeAll(Map.of(next, moved), NOTE)).containsEntry(next, JobChange.Answer.DONE);
        assertThat(read(next).status().waitReason()).isEqualTo(WaitReason.FOLLOW);
        succeed(claim);
        assertThat(store().letFollow(10)).isEqualTo(1);
        assertThat(only(claimOne(TestClaims.upTo(10).from("other"))).id()).isEqualTo(next);
    }

    @Test
    default void an_idempotency_key_leads_to_the_job_that_waits() {
        add(follow());
        claimOne();
        JobId next = insert(follow().idempotencyKey("a")).id();
        assertThat(insert(follow().idempotencyKey("b")).id()).isEqualTo(next);
        assertThat(insert(follow().idempotencyKey("a")).id()).isEqualTo(next);
        assertThat(store().findByIdempotencyKey("b")).contains(next);
        assertThat(store().find(JobQuery.all()).items()).hasSize(2);
    }

    @Test
    default void of_many_requests_at_once_one_job_waits() {
        add(follow());
        claimOne();
        Set<JobId> ids = ConcurrentHashMap.newKeySet();
        AtomicInteger created = new AtomicInteger();
        Crowd.run(4, number -> {
            for (int i = 0; i < 5; i++) {
                Enqueued stored = insert(follow().payload(number + "" + i));
                ids.add(stored.id());
                created.addAndGet(stored.created() ? 1 : 0);
            }
        });
        assertThat(ids).hasSize(1);
        assertThat(created).hasValue(1);
        assertThat(store().find(JobQuery.all()).items()).hasSize(2);
    }

    @Test
    default void requests_of_one_call_meet_like_calls() {
        add(follow().payload("1"));
        claimOne();
        List<Enqueued> stored = store().insert(List.of(
                follow().payload("2").build(),
                TestJobs.spec("work").key("free", KeyRule.FOLLOW).build(),
                follow().payload("3").build(),
                TestJobs.spec("plain").build(),
                TestJobs.spec("work").key("free", KeyRule.FOLLOW).payload("4").build()));
        assertThat(stored).extracting(Enqueued::created).containsExactly(true, true, false, true, false);
        assertThat(stored.get(2).id()).isEqualTo(stored.get(0).id());
        assertThat(stored.get(4).id()).isEqualTo(stored.get(1).id());
        assertThat(read(stored.get(0).id()).spec().payload()).isEqualTo("3");
        assertThat(read(stored.get(0).id()).status().waitReason()).isEqualTo(WaitReason.FOLLOW);
    }

    private static JobSpec.Builder follow() {
        return TestJobs.spec("work").key("order-1", KeyRule.FOLLOW);
    }
}
