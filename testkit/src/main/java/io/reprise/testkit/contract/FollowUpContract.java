// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.reprise.job.Cancellation;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Claim;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Follow-up jobs are stored together with their outcome, exactly if the outcome is accepted. */
public interface FollowUpContract extends TransactionContract {

    @Test
    default void a_follow_up_is_stored_with_every_kind_of_outcome() {
        add(TestJobs.many(5));
        Claim claim = claimOne(TestClaims.upTo(5));
        List<Job> jobs = claim.jobs();
        List<Settlement> outcomes = List.of(
                TestSettlements.success(claim, jobs.get(0)),
                TestSettlements.success(claim, jobs.get(1), "{}"),
                TestSettlements.retry(claim, jobs.get(2), Duration.ofHours(1)),
                TestSettlements.fail(claim, jobs.get(3)),
                TestSettlements.cancellation(claim, jobs.get(4)));
        Settled settled = store().settle(
                        outcomes.stream()
                                .map(each -> each.with(followUp("after-" + each.job())))
                                .toList(),
                        List.of(claim.token()));
        assertThat(settled.stale()).isEmpty();
        assertThat(followUps())
                .containsExactlyInAnyOrderElementsOf(
                        jobs.stream().map(job -> "after-" + job.id()).toList());
    }

    @Test
    default void a_follow_up_is_a_job_like_any_other() {
        add(TestJobs.spec("first"));
        Claim claim = claimOne();
        RetryPolicy policy = RetryPolicy.unset().maxAttempts(7);
        JobSpec spec = JobSpec.builder("second", "{\"n\":1}")
                .queue("follow-ups")
                .priority(3)
                .policy(policy)
                .resource("host")
                .build();
        settle(TestSettlements.success(claim, only(claim)).with(new Settlement.FollowUps(List.of(spec), List.of())));
        Job followUp = only(claimOne(TestClaims.upTo(1).from("follow-ups")));
        assertThat(followUp.spec()).isEqualTo(spec);
        assertThat(count("follow-ups", JobState.RUNNING)).isEqualTo(1);
    }

    @Test
    default void several_follow_ups_may_follow_one_outcome() {
        add(TestJobs.spec("first"));
        Claim claim = claimOne();
        settle(TestSettlements.success(claim, only(claim)).with(followUp("a", "b", "c")));
        assertThat(followUps()).containsExactlyInAnyOrder("a", "b", "c");
    }

    @Test
    default void no_follow_up_of_a_stale_outcome_is_stored_while_those_of_others_are() {
        add(TestJobs.many(2));
        Claim claim = claimOne(TestClaims.upTo(2));
        settle(TestSettlements.success(claim, claim.jobs().get(0)));
        Settled settled = settle(
                TestSettlements.success(claim, claim.jobs().get(0)).with(followUp("stale")),
                TestSettlements.success(claim, claim.jobs().get(1)).with(followUp("accepted")));
        assertThat(settled.stale()).containsExactly(claim.jobs().get(0).id());
        assertThat(followUps()).containsExactly("accepted");
    }

    @Test
    default void settling_again_stores_no_follow_up_twice() {
        add(TestJobs.spec("first"));
        Claim claim = claimOne();
        Settlement outcome =
                TestSettlements.retry(claim, only(claim), Duration.ofHours(1)).with(followUp("once"));
        settle(outcome);
        assertThat(settle(outcome).stale()).hasSize(1);
        assertThat(followUps()).containsExactly("once");
    }

    @Test
    default void of_two_outcomes_of_one_job_only_the_follow_ups_of_the_newer_are_stored() {
        JobId id = add(TestJobs.spec("twice"));
        Claim dead = claimOne();
        settle(TestSettlements.retry(dead, only(dead), Duration.ZERO));
        Claim live = claimOne();
        Settled settled = settle(
                TestSettlements.fail(dead, only(dead)).with(followUp("older")),
                TestSettlements.fail(live, only(live)).with(followUp("newer")));
        assertThat(settled.stale()).containsExactly(id);
        assertThat(followUps()).containsExactly("newer");
    }

    @Test
    default void a_zombies_follow_up_is_not_stored() {
        add(TestJobs.spec("first"));
        Claim zombie = claimAndDie("worker-1", 1);
        takeOver("worker-2");
        settle(TestSettlements.success(zombie, only(zombie)).with(followUp("zombie")));
        assertThat(followUps()).isEmpty();
    }

    @Test
    default void a_cancellation_asked_for_meanwhile_has_its_own_follow_ups() {
        List<JobId> ids = add(TestJobs.many(3));
        Claim claim = claimOne(TestClaims.upTo(3));
        ids.subList(0, 2).forEach(id -> store().cancel(id, NOTE));
        Stream<Settlement> outcomes = claim.jobs().stream()
                .map(job -> TestSettlements.retry(claim, job, Duration.ofHours(1))
                        .with(new Settlement.FollowUps(specs("retried-" + job.id()), specs("cancelled-" + job.id()))));
        settle(outcomes.toArray(Settlement[]::new));
        assertThat(followUps())
                .containsExactlyInAnyOrder(
                        "cancelled-" + ids.get(0), "cancelled-" + ids.get(1), "retried-" + ids.get(2));
    }

    @Test
    default void a_follow_up_whose_key_is_held_already_is_not_stored_again() {
        add(TestJobs.many(2));
        Claim claim = claimOne(TestClaims.upTo(2));
        for (Job job : claim.jobs()) {
            JobSpec.Builder spec = TestJobs.spec("keyed").queue("follow-ups").key("only-one", KeyRule.KEEP);
            Settlement.FollowUps one = new Settlement.FollowUps(
                    List.of(
                            spec.build(),
                            spec.key(null, KeyRule.KEEP).idempotencyKey("once").build()),
                    List.of());
            assertThat(settle(TestSettlements.success(claim, job).with(one)).stale())
                    .isEmpty();
        }
        assertThat(count("follow-ups", JobState.PENDING)).isEqualTo(2);
    }

    @Test
    default void a_follow_up_that_could_be_refused_is_refused_at_once() {
        for (KeyRule rule : List.of(KeyRule.REJECT, KeyRule.REPLACE)) {
            List<JobSpec> refusable =
                    List.of(TestJobs.spec("keyed").key("k", rule).build());
            assertThatIllegalArgumentException().isThrownBy(() -> new Settlement.FollowUps(refusable, List.of()));
            assertThatIllegalArgumentException().isThrownBy(() -> new Settlement.FollowUps(List.of(), refusable));
        }
    }

    @Test
    default void an_expired_job_is_followed_in_the_same_step() {
        RetryPolicy brief = RetryPolicy.unset().deadline(Duration.ofNanos(1_000));
        JobId id = add(TestJobs.spec("late").policy(brief));
        awaitNextInstant();
        await(() -> !store().expire(10, job -> specs("expired-" + job.id() + "-" + job.state()))
                .isEmpty());
        assertThat(store().expire(10, job -> specs("again"))).isEmpty();
        assertThat(followUps()).containsExactly("expired-" + id + "-FAILED");
    }

    @Test
    default void a_job_cancelled_by_hand_is_followed_exactly_if_that_ended_it() {
        JobId pending = add(TestJobs.spec("unwanted"));
        assertThat(store().cancel(pending, NOTE, specs("done"))).isEqualTo(Cancellation.DONE);
        assertThat(store().cancel(pending, NOTE, specs("too-late"))).isEqualTo(Cancellation.TOO_LATE);
        JobId running = add(TestJobs.spec("unwanted"));
        claimOne();
        assertThat(store().cancel(running, NOTE, specs("requested"))).isEqualTo(Cancellation.REQUESTED);
        assertThat(followUps()).containsExactly("done");
    }

    @Test
    default void a_follow_up_becomes_visible_with_the_callers_commit_and_vanishes_with_its_rollback() {
        add(TestJobs.many(2));
        Claim claim = claimOne(TestClaims.upTo(2));
        for (boolean commits : List.of(false, true)) {
            Job job = claim.jobs().get(commits ? 1 : 0);
            OpenTransaction transaction = begin();
            assumeTrue(transaction != null, "This store takes no part in callers' transactions");
            if (transaction != null) {
                Settlement outcome = TestSettlements.success(claim, job).with(followUp("after-" + job.id()));
                store().within(transaction.handle()).settle(List.of(outcome), List.of());
                assertThat(followUps()).isEmpty();
                if (commits) {
                    transaction.commit();
                } else {
                    transaction.rollback();
                }
                transaction.close();
            }
        }
        assertThat(followUps()).containsExactly("after-" + claim.jobs().get(1).id());
    }

    private static Settlement.FollowUps followUp(String... types) {
        return new Settlement.FollowUps(specs(types), List.of());
    }

    private static List<JobSpec> specs(String... types) {
        return Stream.of(types)
                .map(type -> TestJobs.spec(type).queue("follow-ups").build())
                .toList();
    }

    private List<String> followUps() {
        return store().find(JobQuery.all().queue("follow-ups")).items().stream()
                .map(Job::type)
                .toList();
    }
}
