// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.batches;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.batch.BatchState;
import io.reprise.batch.Membership;
import io.reprise.job.AuditEntry;
import io.reprise.job.Cancellation;
import io.reprise.job.DuplicateKeyException;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobChange;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.job.Page;
import io.reprise.job.RefusedException;
import io.reprise.job.WaitReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.step.StepEdit;
import io.reprise.store.Claim;
import io.reprise.store.Requeue;
import io.reprise.store.RequeueResult;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.testkit.fixture.Crowd;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Batches: who is counted, and when a batch ends and succeeds. */
public interface BatchContract extends StoreFixture {

    /** The batch of the tests. */
    String BATCH = "import-7";

    /** A retry by hand. */
    Requeue AGAIN = new Requeue("retry", Duration.ZERO, null, false, 0, Requeue.Edit.NONE);

    /** A queue of the jobs that wait for a batch. */
    String AFTER = "after";

    private static JobSpec.Builder member(String type) {
        return TestJobs.spec(type).batch(BATCH);
    }

    private static JobSpec follower(String type) {
        return TestJobs.on(AFTER).dueAt(JobSpec.MAX_DUE).build().toBuilder()
                .tags(Set.of(type))
                .build();
    }

    private void create() {
        assertThat(store().createBatch(BATCH, follower("success"), follower("end")))
                .isTrue();
    }

    private BatchState batch() {
        return store().batch(BATCH).orElseThrow();
    }

    private List<JobId> addMembers(int count) {
        List<JobSpec> specs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            specs.add(member("part").build());
        }
        return add(specs);
    }

    private BatchState close() {
        return store().closeBatch(BATCH).orElseThrow();
    }

    /** Returns the settlement as the engine makes it: it names the batch of the job. */
    static Settlement counted(Settlement settlement, Job job) {
        return settlement.with(new Settlement.FollowUps(List.of(), List.of(), Membership.in(job.spec())));
    }

    private Settled end(Claim claim, boolean well) {
        List<Settlement> outcomes = new ArrayList<>();
        for (Job job : claim.jobs()) {
            outcomes.add(counted(well ? TestSettlements.success(claim, job) : TestSettlements.fail(claim, job), job));
        }
        return store().settle(outcomes, List.of());
    }

    private Job onSuccess() {
        return read(Objects.requireNonNull(batch().onSuccess()));
    }

    private Job onEnd() {
        return read(Objects.requireNonNull(batch().onEnd()));
    }

    private List<JobId> ids(JobQuery query) {
        return store().find(query).items().stream().map(Job::id).toList();
    }

    private boolean isDue(Job job) {
        return job.state() == JobState.PENDING
                && !Objects.requireNonNull(job.times().dueAt()).isAfter(store().now());
    }

    @Test
    default void members_are_found_by_their_batch_whatever_their_state() {
        create();
        assertThat(store().createBatch(BATCH + "0", null, null)).isTrue();
        List<JobId> members = addMembers(3);
        add(TestJobs.spec("stranger"));
        add(TestJobs.spec("part").batch(BATCH + "0"));
        JobQuery query = JobQuery.all().batch(BATCH);
        assertThat(ids(query)).containsExactlyInAnyOrderElementsOf(members);
        end(claimOne(), true);
        Claim dead = claimOne();
        end(dead, false);
        assertThat(ids(query)).containsExactlyInAnyOrderElementsOf(members);
        assertThat(ids(query.brief())).containsExactlyInAnyOrderElementsOf(members);
        assertThat(ids(query.state(JobState.FAILED))).containsExactly(only(dead).id());
        assertThat(ids(JobQuery.all().batch("import-"))).isEmpty();
    }

    @Test
    default void a_batch_counts_its_members() {
        create();
        addMembers(3);
        assertThat(batch().total()).isEqualTo(3);
        assertThat(batch().open()).isEqualTo(3);
        end(claimOne(), true);
        end(claimOne(), false);
        BatchState now = batch();
        assertThat(now.succeeded()).isOne();
        assertThat(now.dead()).isOne();
        assertThat(now.open()).isOne();
        assertThat(now.percent()).isEqualTo(66);
        assertThat(now.closedAt()).isNull();
        assertThat(now.endedAt()).isNull();
    }

    @Test
    default void a_member_knows_its_batch() {
        create();
        JobSpec spec = member("part").chain("{\"links\":[]}").build();
        JobId id = add(List.of(spec)).get(0);
        assertThat(read(id).spec()).isEqualTo(spec);
        Claim claim = claimOne();
        assertThat(only(claim).spec()).isEqualTo(spec);
        end(claim, true);
        assertThat(read(id).spec()).isEqualTo(spec);
    }

    @Test
    default void jobs_for_the_end_wait_until_then() {
        create();
        assertThat(onEnd().status().waitReason()).isEqualTo(WaitReason.BATCH);
        assertThat(onSuccess().status().waitReason()).isEqualTo(WaitReason.BATCH);
        addMembers(2);
        assertThat(close().closedAt()).isNull();
        end(claimOne(), true);
        assertThat(isDue(onEnd())).isFalse();
        end(claimOne(), true);
        assertThat(isDue(onEnd())).isTrue();
        assertThat(isDue(onSuccess())).isTrue();
        assertThat(batch().endedAt()).isNotNull();
        assertThat(batch().succeededAt()).isNotNull();
        assertThat(claimOne(TestClaims.upTo(10).from(AFTER)).jobs()).hasSize(2);
    }

    @Test
    default void a_batch_that_is_open_does_not_end() {
        create();
        addMembers(1);
        end(claimOne(), true);
        assertThat(batch().endedAt()).isNull();
        addMembers(1);
        close();
        assertThat(batch().endedAt()).isNull();
        end(claimOne(), true);
        assertThat(batch().endedAt()).isNotNull();
    }

    @Test
    default void closing_ends_a_batch_of_which_nothing_is_open() {
        create();
        close();
        assertThat(batch().endedAt()).isNotNull();
        assertThat(batch().succeededAt()).isNotNull();
        assertThat(isDue(onEnd())).isTrue();
        assertThat(isDue(onSuccess())).isTrue();
    }

    @Test
    default void the_second_close_says_when_the_first_was() {
        create();
        assertThat(close().closedAt()).isNull();
        assertThat(close().closedAt()).isNotNull();
        assertThat(store().closeBatch("other")).isEmpty();
    }

    @Test
    default void a_dead_member_ends_the_batch_and_its_retry_lets_it_succeed() {
        create();
        JobId id = addMembers(1).get(0);
        close();
        end(claimOne(), false);
        assertThat(isDue(onEnd())).isTrue();
        assertThat(isDue(onSuccess())).isFalse();
        Instant ended = Objects.requireNonNull(batch().endedAt());
        assertThat(store().requeue(id, AGAIN, NOTE).result()).isEqualTo(RequeueResult.Result.DONE);
        assertThat(batch().dead()).isZero();
        assertThat(batch().open()).isOne();
        end(claimOne(), true);
        assertThat(batch().succeeded()).isOne();
        assertThat(batch().endedAt()).isEqualTo(ended);
        assertThat(isDue(onSuccess())).isTrue();
    }

    @Test
    default void a_person_finishes_a_batch_that_ended_with_dead_letters() {
        create();
        addMembers(2);
        close();
        end(claimOne(), true);
        assertThat(store().finishBatch(BATCH, NOTE).orElseThrow().isFinishable())
                .as("a member is open")
                .isFalse();
        assertThat(isDue(onSuccess())).isFalse();
        end(claimOne(), false);
        BatchState before = store().finishBatch(BATCH, NOTE).orElseThrow();
        assertThat(before.isFinishable()).isTrue();
        assertThat(before.succeededAt()).isNull();
        assertThat(isDue(onSuccess())).isTrue();
        BatchState after = batch();
        assertThat(after.succeededAt()).isNotNull();
        assertThat(after.dead()).isOne();
        AuditEntry entry = store().audit(null, 1).get(0);
        assertThat(entry.action()).isEqualTo("finish-batch");
        assertThat(entry.subject()).isEqualTo("batch/" + BATCH);
        assertThat(entry.note()).isEqualTo(NOTE);
        assertThat(entry.detail()).isEqualTo("dead letters: 1");
        assertThat(store().finishBatch(BATCH, NOTE).orElseThrow()).isEqualTo(after);
        assertThat(store().audit(null, 10))
                .filteredOn(each -> each.action().equals("finish-batch"))
                .hasSize(1);
        assertThat(store().finishBatch("other", NOTE)).isEmpty();
    }

    @Test
    default void the_deadline_of_the_job_for_the_success_begins_when_a_person_finishes_the_batch() {
        JobSpec report = follower("success").toBuilder()
                .policy(RetryPolicy.unset().deadline(Duration.ofHours(1)))
                .build();
        assertThat(store().createBatch(BATCH, report, null)).isTrue();
        addMembers(1);
        close();
        end(claimOne(), false);
        store().finishBatch(BATCH, NOTE);
        Job due = onSuccess();
        assertThat(due.times().deadline())
                .isEqualTo(Objects.requireNonNull(due.times().dueAt()).plus(Duration.ofHours(1)));
    }

    @Test
    default void a_member_that_succeeds_after_a_batch_was_finished_starts_nothing_again() {
        create();
        JobId id = addMembers(1).get(0);
        close();
        end(claimOne(), false);
        store().finishBatch(BATCH, NOTE);
        Instant finished = Objects.requireNonNull(batch().succeededAt());
        Claim after = claimOne(TestClaims.upTo(10).from(AFTER));
        end(after, true);
        store().requeue(id, AGAIN, NOTE);
        end(claimOne(), true);
        assertThat(batch().succeeded()).isOne();
        assertThat(batch().dead()).isZero();
        assertThat(batch().succeededAt()).isEqualTo(finished);
        assertThat(onSuccess().state()).isEqualTo(JobState.SUCCEEDED);
    }

    @Test
    default void the_job_for_the_success_of_a_finished_batch_stays_if_members_are_cancelled_later() {
        create();
        List<JobId> ids = addMembers(2);
        close();
        end(claimOne(), false);
        end(claimOne(), false);
        store().finishBatch(BATCH, NOTE);
        store().requeue(ids.get(0), AGAIN, NOTE);
        store().cancel(ids.get(0), NOTE, List.of());
        assertThat(isDue(onSuccess())).as("it waits for a worker").isTrue();
        Claim after = claimOne(TestClaims.upTo(10).from(AFTER));
        store().requeue(ids.get(1), AGAIN, NOTE);
        store().cancel(ids.get(1), NOTE, List.of());
        end(after, true);
        assertThat(batch().cancelled()).isEqualTo(2);
        assertThat(onSuccess().state()).isEqualTo(JobState.SUCCEEDED);
    }

    @Test
    default void a_batch_with_a_cancelled_member_or_without_a_job_for_its_success_is_not_finished() {
        create();
        List<JobId> ids = addMembers(2);
        close();
        store().cancel(ids.get(0), NOTE, List.of());
        end(claimOne(), false);
        assertThat(store().finishBatch(BATCH, NOTE).orElseThrow().isFinishable())
                .isFalse();
        assertThat(batch().succeededAt()).isNull();
        assertThat(onSuccess().state()).isEqualTo(JobState.CANCELLED);
        assertThat(store().createBatch("plain", null, null)).isTrue();
        add(TestJobs.spec("part").batch("plain"));
        store().closeBatch("plain");
        end(claimOne(), false);
        assertThat(store().finishBatch("plain", NOTE).orElseThrow().isFinishable())
                .isFalse();
        assertThat(store().batch("plain").orElseThrow().succeededAt()).isNull();
    }

    @Test
    default void a_replay_under_a_new_id_keeps_its_place() {
        create();
        JobId id = addMembers(1).get(0);
        close();
        end(claimOne(), false);
        Requeue replay = new Requeue("replay", Duration.ZERO, null, true, 0, new Requeue.Edit(true, null, null));
        assertThat(store().requeue(id, replay, NOTE).id()).isNotEqualTo(id);
        assertThat(batch().open()).isOne();
        end(claimOne(), true);
        assertThat(batch().succeededAt()).isNotNull();
    }

    @Test
    default void many_retries_at_once_are_counted() {
        create();
        List<JobId> ids = addMembers(5);
        close();
        end(claimOne(TestClaims.upTo(5)), false);
        Map<JobId, Requeue> requeues = new HashMap<>();
        ids.forEach(id -> requeues.put(id, AGAIN));
        store().requeueAll(requeues, NOTE);
        assertThat(batch().open()).isEqualTo(5);
        assertThat(batch().dead()).isZero();
        end(claimOne(TestClaims.upTo(5)), true);
        assertThat(batch().succeededAt()).isNotNull();
    }

    @Test
    default void a_cancelled_member_ends_the_batch_but_it_cannot_succeed() {
        create();
        List<JobId> ids = addMembers(3);
        close();
        assertThat(store().cancel(ids.get(0), NOTE, List.of())).isEqualTo(Cancellation.DONE);
        store().cancelAll(List.of(ids.get(1)), NOTE, job -> List.of());
        assertThat(batch().cancelled()).isEqualTo(2);
        end(claimOne(), true);
        assertThat(isDue(onEnd())).isTrue();
        assertThat(onSuccess().state()).isEqualTo(JobState.CANCELLED);
    }

    @Test
    default void a_member_that_is_cancelled_after_the_end_leaves_no_hope_of_success() {
        create();
        JobId id = addMembers(1).get(0);
        close();
        end(claimOne(), false);
        assertThat(onSuccess().state()).isEqualTo(JobState.PENDING);
        assertThat(store().requeue(id, AGAIN, NOTE).result()).isEqualTo(RequeueResult.Result.DONE);
        assertThat(store().cancel(id, NOTE, List.of())).isEqualTo(Cancellation.DONE);
        assertThat(batch().cancelled()).isOne();
        assertThat(onSuccess().state()).isEqualTo(JobState.CANCELLED);
    }

    @Test
    default void a_cancellation_of_a_running_member_is_counted() {
        create();
        JobId id = addMembers(1).get(0);
        close();
        Claim claim = claimOne();
        store().cancel(id, NOTE, List.of());
        settle(counted(TestSettlements.retry(claim, only(claim), Duration.ZERO), only(claim)));
        assertThat(read(id).state()).isEqualTo(JobState.CANCELLED);
        assertThat(batch().cancelled()).isOne();
        assertThat(batch().endedAt()).isNotNull();
    }

    @Test
    default void a_member_that_is_cancelled_with_its_lease_is_counted() {
        create();
        JobId id = addMembers(1).get(0);
        close();
        Claim claim = claimOne();
        store().cancel(id, NOTE, List.of());
        store().settle(List.of(), List.of(claim.token()));
        assertThat(read(id).state()).isEqualTo(JobState.CANCELLED);
        assertThat(batch().cancelled()).isOne();
    }

    @Test
    default void a_member_past_its_deadline_is_counted() {
        create();
        add(member("part").policy(RetryPolicy.unset().deadline(Duration.ofMillis(1))));
        close();
        await(() -> {
            store().expire(10);
            return batch().dead() == 1;
        });
        assertThat(batch().endedAt()).isNotNull();
    }

    @Test
    default void an_outcome_under_a_lost_lease_is_not_counted() {
        create();
        addMembers(1);
        close();
        Claim lost = claimAndDie("first", 1);
        await(() -> !store().takeOver("second", TestClaims.LONG, 1).isEmpty());
        assertThat(end(lost, true).stale()).isNotEmpty();
        assertThat(batch().open()).isOne();
        assertThat(batch().endedAt()).isNull();
    }

    @Test
    default void a_retry_is_no_end() {
        create();
        addMembers(1);
        close();
        Claim claim = claimOne();
        settle(counted(TestSettlements.retry(claim, only(claim), Duration.ZERO), only(claim)));
        assertThat(batch().open()).isOne();
        end(claimOne(), true);
        assertThat(batch().succeeded()).isOne();
    }

    @Test
    default void members_that_are_deleted_stay_counted() {
        create();
        List<JobId> ids = addMembers(2);
        end(claimOne(), false);
        end(claimOne(), true);
        assertThat(store().discard(ids.get(0), NOTE)).isTrue();
        awaitNextInstant();
        store().prune(Set.of(JobState.SUCCEEDED), Duration.ZERO, 10);
        assertThat(store().find(ids.get(1))).isEmpty();
        close();
        assertThat(batch().total()).isEqualTo(2);
        assertThat(batch().dead()).isOne();
        assertThat(batch().succeeded()).isOne();
        assertThat(batch().endedAt()).isNotNull();
        assertThat(batch().succeededAt()).isNull();
    }

    @Test
    default void a_closed_batch_takes_no_members_but_those_of_its_members() {
        create();
        addMembers(1);
        close();
        assertThatThrownBy(() -> addMembers(1))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("'import-7' is closed");
        assertThat(batch().total()).isOne();
        Claim claim = claimOne();
        add(member("part").sibling(true));
        end(claim, true);
        assertThat(batch().endedAt()).isNull();
        end(claimOne(), true);
        assertThat(batch().succeededAt()).isNotNull();
        assertThatThrownBy(() -> add(member("part").sibling(true)))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("has ended");
        assertThat(store().claim(TestClaims.upTo(1).build())).isEmpty();
    }

    @Test
    default void a_repetition_is_answered_though_the_batch_is_closed() {
        create();
        List<JobSpec> parts = List.of(
                member("part").idempotencyKey("one").build(),
                member("part").idempotencyKey("two").build());
        List<JobId> first = store().insert(parts).stream().map(Enqueued::id).toList();
        close();
        List<Enqueued> again = store().insert(parts);
        assertThat(again).extracting(Enqueued::id).isEqualTo(first);
        assertThat(again).noneMatch(Enqueued::created);
        assertThat(batch().total()).isEqualTo(2);
        // One that is new is refused, and all that came with it.
        assertThatThrownBy(() -> store().insert(List.of(
                        parts.get(0), member("part").idempotencyKey("three").build())))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("'import-7' is closed");
        assertThatThrownBy(() -> add(member("part").key("unique", KeyRule.KEEP)))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("'import-7' is closed");
        end(claimOne(), true);
        end(claimOne(), true);
        assertThat(batch().succeededAt()).isNotNull();
        assertThat(store().insert(parts)).extracting(Enqueued::id).isEqualTo(first);
        assertThat(batch().total()).isEqualTo(2);
    }

    @Test
    default void a_repetition_with_a_unique_key_is_answered_though_the_batch_is_closed() {
        create();
        JobSpec one =
                member("part").key("unique", KeyRule.KEEP).idempotencyKey("one").build();
        JobSpec two = member("part").idempotencyKey("two").build();
        List<JobId> first =
                store().insert(List.of(one, two)).stream().map(Enqueued::id).toList();
        close();
        assertThat(store().insert(List.of(one, two))).extracting(Enqueued::id).isEqualTo(first);
        assertThatThrownBy(() -> store().insert(List.of(
                        two, one.toBuilder().idempotencyKey("another").build())))
                .as("the unique key answers, not the idempotency key")
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("'import-7' is closed");
        assertThat(batch().total()).isEqualTo(2);
        end(claimOne(), true);
        end(claimOne(), true);
        assertThat(store().insert(List.of(one, two))).extracting(Enqueued::id).isEqualTo(first);
    }

    @Test
    default void a_batch_that_is_missing_takes_no_members() {
        assertThatThrownBy(() -> addMembers(2))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("'import-7' does not exist");
        assertThat(store().claim(TestClaims.upTo(1).build())).isEmpty();
    }

    @Test
    default void a_name_makes_one_batch() {
        create();
        assertThat(store().createBatch(BATCH, follower("success"), null)).isFalse();
        assertThat(store().claim(TestClaims.upTo(9).from(AFTER).build())).isEmpty();
        assertThat(store().createBatch("other", null, null)).isTrue();
        assertThat(store().batch("other").orElseThrow().onEnd()).isNull();
    }

    @Test
    default void a_key_that_leads_to_another_job_adds_no_member() {
        create();
        add(TestJobs.spec("part").idempotencyKey("one"));
        add(List.of(
                member("part").idempotencyKey("one").build(),
                member("part").idempotencyKey("two").build()));
        assertThat(batch().total()).isOne();
    }

    @Test
    default void a_member_that_is_replaced_stays_a_member() {
        create();
        add(member("part").key("k", KeyRule.KEEP).delay(Duration.ofDays(1)));
        close();
        add(TestJobs.spec("other").key("k", KeyRule.REPLACE));
        Claim claim = claimOne();
        assertThat(only(claim).type()).isEqualTo("other");
        end(claim, true);
        assertThat(batch().succeededAt()).isNotNull();
    }

    @Test
    default void a_job_of_a_batch_whose_key_is_taken_is_refused() {
        add(TestJobs.spec("report").idempotencyKey("r"));
        JobSpec report = TestJobs.spec("report")
                .idempotencyKey("r")
                .dueAt(JobSpec.MAX_DUE)
                .build();
        assertThatThrownBy(() -> store().createBatch(BATCH, report, null)).isInstanceOf(RefusedException.class);
        assertThat(store().batch(BATCH)).isEmpty();
    }

    @Test
    default void nobody_starts_a_job_that_waits_for_a_batch_by_hand() {
        create();
        List<JobId> members = addMembers(1);
        JobId success = onSuccess().id();
        JobId end = onEnd().id();
        RequeueResult refused = new RequeueResult(RequeueResult.Result.FOLLOWS, null);
        assertThat(store().requeue(end, AGAIN, NOTE)).isEqualTo(refused);
        assertThat(store().requeue(success, AGAIN.with(new Requeue.Edit(true, null, null)), NOTE))
                .isEqualTo(refused);
        assertThat(store().requeueAll(Map.of(end, AGAIN, success, AGAIN), NOTE))
                .isEqualTo(Map.of(end, refused, success, refused));
        JobChange sooner = JobChange.NONE.at(store().now().plus(Duration.ofHours(1)));
        assertThat(store().changeAll(Map.of(end, sooner, success, sooner), NOTE))
                .isEqualTo(Map.of(end, JobChange.Answer.FOLLOWS, success, JobChange.Answer.FOLLOWS));
        JobChange moved = JobChange.NONE.toQueue("other").withPriority(3);
        assertThat(store().changeAll(Map.of(end, moved), NOTE)).containsEntry(end, JobChange.Answer.DONE);
        assertThat(store().editSteps(end, new StepEdit.ForgetAll(), NOTE)).isEqualTo(StepEdit.Result.DONE);
        assertThat(isDue(onEnd()) || isDue(onSuccess())).isFalse();

        close();
        end(claimOne(), false);
        assertThat(isDue(onEnd())).isTrue();
        assertThat(onEnd().queue()).isEqualTo("other");
        assertThat(store().requeue(success, AGAIN, NOTE)).isEqualTo(refused);
        assertThat(store().requeue(members.get(0), AGAIN, NOTE).result()).isEqualTo(RequeueResult.Result.DONE);
        end(claimOne(), true);
        assertThat(isDue(onSuccess())).isTrue();
        assertThat(store().requeue(success, AGAIN, NOTE).result()).isEqualTo(RequeueResult.Result.DONE);
    }

    @Test
    default void no_key_replaces_a_job_that_waits_for_a_batch() {
        JobSpec clean = TestJobs.on(AFTER)
                .dueAt(JobSpec.MAX_DUE)
                .key("clean", KeyRule.KEEP)
                .build();
        store().createBatch(BATCH, null, clean);
        JobId end = onEnd().id();
        assertThatExceptionOfType(DuplicateKeyException.class)
                .isThrownBy(() -> add(TestJobs.on(AFTER).key("clean", KeyRule.REPLACE)))
                .satisfies(e -> assertThat(e.holder()).isEqualTo(end));
        JobId next = add(TestJobs.on(AFTER).key("clean", KeyRule.FOLLOW));
        assertThat(next).isNotEqualTo(end);
        assertThat(read(next).status().waitReason()).isEqualTo(WaitReason.FOLLOW);
        assertThat(isDue(onEnd())).isFalse();
        assertThat(store().letFollow(10)).isZero();
        close();
        Claim claim = claimOne(TestClaims.upTo(9).from(AFTER));
        assertThat(only(claim).id()).isEqualTo(end);
        succeed(claim);
        assertThat(store().letFollow(10)).isOne();
        assertThat(only(claimOne(TestClaims.upTo(9).from(AFTER))).id()).isEqualTo(next);
    }

    @Test
    default void the_deadline_of_a_job_for_the_end_begins_with_the_end() {
        JobSpec report = TestJobs.on(AFTER)
                .dueAt(JobSpec.MAX_DUE)
                .policy(RetryPolicy.unset().deadline(Duration.ofHours(1)))
                .build();
        store().createBatch(BATCH, null, report);
        close();
        Job job = onEnd();
        assertThat(Duration.between(
                        Objects.requireNonNull(job.times().dueAt()),
                        Objects.requireNonNull(job.times().deadline())))
                .isEqualTo(Duration.ofHours(1));
        assertThat(job.times().firstDueAt()).isEqualTo(job.times().dueAt());
    }

    @Test
    default void batches_come_in_pages_by_name() {
        for (String name : List.of("b-2", "a-1", "b-1", "b-3")) {
            store().createBatch(name, null, null);
        }
        Page<BatchState> first = store().batches("b-", 2, null);
        assertThat(first.items()).extracting(BatchState::name).containsExactly("b-1", "b-2");
        Page<BatchState> second = store().batches("b-", 2, first.next());
        assertThat(second.items()).extracting(BatchState::name).containsExactly("b-3");
        assertThat(second.next()).isNull();
        assertThat(store().batches("", 9, null).items()).hasSize(4);
    }

    @Test
    default void the_end_comes_once_when_the_last_members_end_together() {
        for (int round = 0; round < 10; round++) {
            String name = "round-" + round;
            store().createBatch(name, null, follower("end"));
            List<JobSpec> specs = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                specs.add(TestJobs.spec("part").batch(name).build());
            }
            add(specs);
            store().closeBatch(name);
            List<Claim> claims = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                claims.add(claimOne(TestClaims.upTo(2)));
            }
            Crowd.run(4, number -> end(claims.get(number), true));
            BatchState ended = store().batch(name).orElseThrow();
            assertThat(ended.succeeded()).isEqualTo(8);
            assertThat(ended.succeededAt()).isNotNull();
            Claim woken = claimOne(TestClaims.upTo(9).from(AFTER));
            assertThat(woken.jobs()).hasSize(1);
            succeed(woken);
        }
    }
}
