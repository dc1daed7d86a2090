// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.JobState;
import io.reprise.KeyRule;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Cancellation;
import io.reprise.store.Claim;
import io.reprise.store.JobQuery;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Follow-up jobs are stored together with their outcome, exactly if the outcome is accepted. */
public interface SequelContract extends TransactionContract {

    @Test
    default void a_sequel_is_stored_with_every_kind_of_outcome() {
        add(Jobs.many(5));
        Claim claim = claimOne(Claims.upTo(5));
        List<Job> jobs = claim.jobs();
        List<Settlement> outcomes = List.of(
                Settlements.success(claim, jobs.get(0)),
                Settlements.success(claim, jobs.get(1), "{}"),
                Settlements.retry(claim, jobs.get(2), Duration.ofHours(1)),
                Settlements.fail(claim, jobs.get(3)),
                Settlements.cancellation(claim, jobs.get(4)));
        Settled settled = store().settle(
                        outcomes.stream()
                                .map(each -> each.with(sequel("after-" + each.job())))
                                .toList(),
                        List.of(claim.token()));
        assertThat(settled.stale()).isEmpty();
        assertThat(sequels())
                .containsExactlyInAnyOrderElementsOf(
                        jobs.stream().map(job -> "after-" + job.id()).toList());
    }

    @Test
    default void a_sequel_is_a_job_like_any_other() {
        add(Jobs.spec("first"));
        Claim claim = claimOne();
        RetryPolicy policy = RetryPolicy.unset().maxAttempts(7);
        JobSpec spec = JobSpec.builder("second", "{\"n\":1}")
                .queue("sequels")
                .priority(3)
                .policy(policy)
                .resource("host")
                .build();
        settle(Settlements.success(claim, only(claim)).with(new Settlement.Sequels(List.of(spec), List.of())));
        Job sequel = only(claimOne(Claims.upTo(1).from("sequels")));
        assertThat(sequel.spec()).isEqualTo(spec);
        assertThat(count("sequels", JobState.RUNNING)).isEqualTo(1);
    }

    @Test
    default void several_sequels_may_follow_one_outcome() {
        add(Jobs.spec("first"));
        Claim claim = claimOne();
        settle(Settlements.success(claim, only(claim)).with(sequel("a", "b", "c")));
        assertThat(sequels()).containsExactlyInAnyOrder("a", "b", "c");
    }

    @Test
    default void no_sequel_of_a_stale_outcome_is_stored_while_those_of_others_are() {
        add(Jobs.many(2));
        Claim claim = claimOne(Claims.upTo(2));
        settle(Settlements.success(claim, claim.jobs().get(0)));
        Settled settled = settle(
                Settlements.success(claim, claim.jobs().get(0)).with(sequel("stale")),
                Settlements.success(claim, claim.jobs().get(1)).with(sequel("accepted")));
        assertThat(settled.stale()).containsExactly(claim.jobs().get(0).id());
        assertThat(sequels()).containsExactly("accepted");
    }

    @Test
    default void settling_again_stores_no_sequel_twice() {
        add(Jobs.spec("first"));
        Claim claim = claimOne();
        Settlement outcome =
                Settlements.retry(claim, only(claim), Duration.ofHours(1)).with(sequel("once"));
        settle(outcome);
        assertThat(settle(outcome).stale()).hasSize(1);
        assertThat(sequels()).containsExactly("once");
    }

    @Test
    default void of_two_outcomes_of_one_job_only_the_sequels_of_the_newer_are_stored() {
        JobId id = add(Jobs.spec("twice"));
        Claim dead = claimOne();
        settle(Settlements.retry(dead, only(dead), Duration.ZERO));
        Claim live = claimOne();
        Settled settled = settle(
                Settlements.fail(dead, only(dead)).with(sequel("older")),
                Settlements.fail(live, only(live)).with(sequel("newer")));
        assertThat(settled.stale()).containsExactly(id);
        assertThat(sequels()).containsExactly("newer");
    }

    @Test
    default void a_zombies_sequel_is_not_stored() {
        add(Jobs.spec("first"));
        Claim zombie = claimAndDie("worker-1", 1);
        takeOver("worker-2");
        settle(Settlements.success(zombie, only(zombie)).with(sequel("zombie")));
        assertThat(sequels()).isEmpty();
    }

    @Test
    default void a_cancellation_asked_for_meanwhile_has_its_own_sequels() {
        List<JobId> ids = add(Jobs.many(3));
        Claim claim = claimOne(Claims.upTo(3));
        ids.subList(0, 2).forEach(id -> store().cancel(id, NOTE));
        Stream<Settlement> outcomes = claim.jobs().stream()
                .map(job -> Settlements.retry(claim, job, Duration.ofHours(1))
                        .with(new Settlement.Sequels(specs("retried-" + job.id()), specs("cancelled-" + job.id()))));
        settle(outcomes.toArray(Settlement[]::new));
        assertThat(sequels())
                .containsExactlyInAnyOrder(
                        "cancelled-" + ids.get(0), "cancelled-" + ids.get(1), "retried-" + ids.get(2));
    }

    @Test
    default void a_sequel_whose_key_is_held_already_is_not_stored_again() {
        add(Jobs.many(2));
        Claim claim = claimOne(Claims.upTo(2));
        for (Job job : claim.jobs()) {
            JobSpec.Builder spec = Jobs.spec("keyed").queue("sequels").key("only-one", KeyRule.KEEP);
            Settlement.Sequels one = new Settlement.Sequels(
                    List.of(
                            spec.build(),
                            spec.key(null, KeyRule.KEEP).idempotencyKey("once").build()),
                    List.of());
            assertThat(settle(Settlements.success(claim, job).with(one)).stale())
                    .isEmpty();
        }
        assertThat(count("sequels", JobState.PENDING)).isEqualTo(2);
    }

    @Test
    default void a_sequel_that_could_be_refused_is_refused_at_once() {
        for (KeyRule rule : List.of(KeyRule.REJECT, KeyRule.REPLACE)) {
            List<JobSpec> refusable = List.of(Jobs.spec("keyed").key("k", rule).build());
            assertThatIllegalArgumentException().isThrownBy(() -> new Settlement.Sequels(refusable, List.of()));
            assertThatIllegalArgumentException().isThrownBy(() -> new Settlement.Sequels(List.of(), refusable));
        }
    }

    @Test
    default void an_expired_job_is_followed_in_the_same_step() {
        RetryPolicy brief = RetryPolicy.unset().deadline(Duration.ofNanos(1_000));
        JobId id = add(Jobs.spec("late").policy(brief));
        awaitNextInstant();
        await(() -> !store().expire(10, job -> specs("expired-" + job.id() + "-" + job.state()))
                .isEmpty());
        assertThat(store().expire(10, job -> specs("again"))).isEmpty();
        assertThat(sequels()).containsExactly("expired-" + id + "-FAILED");
    }

    @Test
    default void a_job_cancelled_by_hand_is_followed_exactly_if_that_ended_it() {
        JobId pending = add(Jobs.spec("unwanted"));
        assertThat(store().cancel(pending, NOTE, specs("done"))).isEqualTo(Cancellation.DONE);
        assertThat(store().cancel(pending, NOTE, specs("too-late"))).isEqualTo(Cancellation.TOO_LATE);
        JobId running = add(Jobs.spec("unwanted"));
        claimOne();
        assertThat(store().cancel(running, NOTE, specs("requested"))).isEqualTo(Cancellation.REQUESTED);
        assertThat(sequels()).containsExactly("done");
    }

    @Test
    default void a_sequel_becomes_visible_with_the_callers_commit_and_vanishes_with_its_rollback() {
        add(Jobs.many(2));
        Claim claim = claimOne(Claims.upTo(2));
        for (boolean commits : List.of(false, true)) {
            Job job = claim.jobs().get(commits ? 1 : 0);
            OpenTransaction transaction = begin();
            assumeTrue(transaction != null, "This store takes no part in callers' transactions");
            if (transaction != null) {
                Settlement outcome = Settlements.success(claim, job).with(sequel("after-" + job.id()));
                store().within(transaction.handle()).settle(List.of(outcome), List.of());
                assertThat(sequels()).isEmpty();
                if (commits) {
                    transaction.commit();
                } else {
                    transaction.rollback();
                }
                transaction.close();
            }
        }
        assertThat(sequels()).containsExactly("after-" + claim.jobs().get(1).id());
    }

    private static Settlement.Sequels sequel(String... types) {
        return new Settlement.Sequels(specs(types), List.of());
    }

    private static List<JobSpec> specs(String... types) {
        return Stream.of(types)
                .map(type -> Jobs.spec(type).queue("sequels").build())
                .toList();
    }

    private List<String> sequels() {
        return store().find(JobQuery.all().queue("sequels")).items().stream()
                .map(Job::type)
                .toList();
    }
}
