// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.job.Progress;
import io.reprise.store.Claim;
import io.reprise.store.CountedAs;
import io.reprise.store.LostClaim;
import io.reprise.store.Renewal;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Renewal, take-over and fencing: at most one live token per job. */
public interface LeaseContract extends StoreFixture {

    @Test
    default void a_live_lease_is_not_taken_over() {
        add(TestJobs.spec("work"));
        claimOne();
        awaitNextInstant();
        assertThat(store().takeOver("worker-2", TestClaims.LONG, 10)).isEmpty();
    }

    @Test
    default void a_renewed_lease_is_not_taken_over() {
        add(TestJobs.spec("work"));
        Claim claim = claimAndDie("worker-1", 1);
        awaitNextInstant();
        Renewal renewal = store().renew("worker-1", List.of(claim.token()), TestClaims.LONG);
        assertThat(renewal.lost()).isEmpty();
        assertThat(store().takeOver("worker-2", TestClaims.LONG, 10)).isEmpty();
    }

    @Test
    default void an_expired_lease_that_nobody_took_is_still_live() {
        JobId id = add(TestJobs.spec("work"));
        Claim claim = claimAndDie("worker-1", 1);
        awaitNextInstant();
        assertThat(store().progress(id, claim.token(), new Progress(50, null))).isTrue();
        succeed(claim);
        assertThat(read(id).state()).isEqualTo(JobState.SUCCEEDED);
    }

    @Test
    default void renewal_tells_which_tokens_are_lost() {
        add(TestJobs.many(2));
        Claim mine = claimOne(TestClaims.upTo(1).by("worker-1"));
        Claim another = claimOne(TestClaims.upTo(1).by("worker-2"));
        Renewal renewal =
                store().renew("worker-1", Set.of(mine.token(), another.token(), 987_654_321L), TestClaims.LONG);
        assertThat(renewal.lost()).containsExactlyInAnyOrder(another.token(), 987_654_321L);
        assertThat(store().renew("worker-1", List.of(), TestClaims.LONG).lost()).isEmpty();
    }

    @Test
    default void renewal_tells_which_jobs_shall_be_cancelled() {
        List<JobId> ids = add(TestJobs.many(2));
        Claim claim = claimOne(TestClaims.upTo(2));
        store().cancel(ids.get(1), NOTE);
        assertThat(store().renew("worker-1", List.of(claim.token()), TestClaims.LONG)
                        .cancelled())
                .containsExactly(ids.get(1));
    }

    @Test
    default void a_take_over_moves_the_jobs_under_a_new_token() {
        JobId id = add(TestJobs.spec("work"));
        Claim lost = claimAndDie("worker-1", 1);
        LostClaim taken = takeOver("worker-2");
        assertThat(taken.lostToken()).isEqualTo(lost.token());
        assertThat(taken.lostWorker()).isEqualTo("worker-1");
        assertThat(taken.claim().token()).isGreaterThan(lost.token());
        assertThat(taken.claim().queue()).isEqualTo("default");
        assertThat(taken.claim().claimedAt()).isEqualTo(lost.claimedAt());
        assertThat(only(taken.claim())).isEqualTo(read(id));
        assertThat(read(id).state()).isEqualTo(JobState.RUNNING);
        assertThat(read(id).status().holder())
                .isEqualTo(new JobStatus.Holder("worker-2", taken.claim().token(), false));
        assertThat(store().renew("worker-1", List.of(lost.token()), TestClaims.LONG)
                        .lost())
                .containsExactly(lost.token());
    }

    @Test
    default void a_zombie_cannot_complete_a_job_that_was_taken_over() {
        JobId id = add(TestJobs.spec("work"));
        Claim zombie = claimAndDie("worker-1", 1);
        Claim taken = takeOver("worker-2").claim();
        Settled settled = settle(TestSettlements.success(zombie, only(zombie), "\"zombie\""));
        assertThat(settled.stale()).containsExactly(id);
        assertThat(read(id).state()).isEqualTo(JobState.RUNNING);
        assertThat(store().progress(id, zombie.token(), new Progress(1, "zombie")))
                .isFalse();
        assertThat(store().attempts(id)).isEmpty();
        settle(TestSettlements.success(taken, only(taken), "\"taker\""));
        assertThat(read(id).status().result()).isEqualTo("\"taker\"");
        assertThat(read(id).attempts()).isEqualTo(1);
    }

    @Test
    default void a_zombie_cannot_complete_a_job_that_was_claimed_anew() {
        JobId id = add(TestJobs.spec("work"));
        Claim zombie = claimAndDie("worker-1", 1);
        Claim taken = takeOver("worker-2").claim();
        settle(TestSettlements.loss(taken, only(taken)));
        assertThat(settle(TestSettlements.success(zombie, only(zombie))).stale())
                .containsExactly(id);
        Claim current = claimOne(TestClaims.upTo(1).by("worker-3"));
        assertThat(settle(TestSettlements.fail(zombie, only(zombie))).stale()).containsExactly(id);
        assertThat(settle(TestSettlements.fail(taken, only(taken))).stale()).containsExactly(id);
        succeed(current);
        assertThat(read(id).state()).isEqualTo(JobState.SUCCEEDED);
    }

    @Test
    default void a_token_does_not_come_back_when_no_attempt_was_counted() {
        JobId id = add(TestJobs.spec("work"));
        Claim zombie = claimOne();
        settle(TestSettlements.snooze(zombie, only(zombie), Duration.ZERO));
        Claim current = claimOne();
        assertThat(only(current).attempts()).isEqualTo(only(zombie).attempts());
        assertThat(settle(TestSettlements.success(zombie, only(zombie))).stale())
                .containsExactly(id);
        assertThat(read(id).state()).isEqualTo(JobState.RUNNING);
        succeed(current);
    }

    @Test
    default void a_late_rescue_does_not_overwrite_a_completed_job() {
        JobId id = add(TestJobs.spec("work"));
        Claim claim = claimAndDie("worker-1", 1);
        awaitNextInstant();
        succeed(claim);
        Job done = read(id);
        assertThat(store().takeOver("worker-2", TestClaims.LONG, 10)).isEmpty();
        assertThat(read(id)).isEqualTo(done);
    }

    @Test
    default void settling_twice_is_stale_the_second_time() {
        JobId id = add(TestJobs.spec("work"));
        Claim claim = claimOne();
        succeed(claim);
        Job done = read(id);
        assertThat(settle(TestSettlements.fail(claim, only(claim))).stale()).containsExactly(id);
        assertThat(settle(TestSettlements.retry(claim, only(claim), Duration.ZERO))
                        .stale())
                .containsExactly(id);
        assertThat(read(id)).isEqualTo(done);
        assertThat(store().attempts(id)).hasSize(1);
    }

    @Test
    default void a_stale_outcome_does_not_hinder_the_others() {
        List<JobId> ids = add(TestJobs.many(3));
        Claim claim = claimOne(TestClaims.upTo(3));
        settle(TestSettlements.success(claim, claim.jobs().get(1)));
        Settled settled = settle(
                TestSettlements.success(claim, claim.jobs().get(0)),
                TestSettlements.fail(claim, claim.jobs().get(1)),
                TestSettlements.success(claim, claim.jobs().get(2)));
        assertThat(settled.stale()).containsExactly(ids.get(1));
        assertThat(ids).extracting(id -> read(id).state()).containsOnly(JobState.SUCCEEDED);
    }

    @Test
    default void outcomes_of_jobs_that_never_ran_or_do_not_exist_are_stale() {
        JobId waiting = add(TestJobs.spec("work"));
        JobId other = add(TestJobs.on("other"));
        Claim claim = claimOne(TestClaims.upTo(1).from("other"));
        JobId missing = new JobId(Long.MAX_VALUE - 1);
        Settled settled = settle(
                TestSettlements.success(claim, read(waiting)),
                TestSettlements.of(missing, claim.token(), CountedAs.ATTEMPT, new Settlement.Succeed(null)));
        assertThat(settled.stale()).containsExactlyInAnyOrder(waiting, missing);
        assertThat(read(waiting).state()).isEqualTo(JobState.PENDING);
        assertThat(read(other).state()).isEqualTo(JobState.RUNNING);
    }

    @Test
    default void every_job_of_a_crashed_worker_comes_back_started_or_not() {
        List<JobId> ids = add(TestJobs.many(5));
        claimAndDie("worker-1", 5);
        Claim taken = takeOver("worker-2").claim();
        assertThat(taken.jobs()).extracting(Job::id).containsExactlyInAnyOrderElementsOf(ids);
        taken.jobs().forEach(job -> settle(TestSettlements.putBack(taken, job)));
        assertThat(TestClaims.ids(claim(TestClaims.upTo(10)))).containsExactlyInAnyOrderElementsOf(ids);
    }

    @Test
    default void only_what_is_left_of_a_lease_is_taken_over() {
        List<JobId> ids = add(TestJobs.many(3));
        Claim claim = claimAndDie("worker-1", 3);
        settle(
                TestSettlements.success(claim, claim.jobs().get(0)),
                TestSettlements.snooze(claim, claim.jobs().get(1), Duration.ofHours(1)));
        assertThat(only(takeOver("worker-2").claim()).id()).isEqualTo(ids.get(2));
    }

    @Test
    default void a_lost_take_over_is_taken_over_again_and_names_the_first_worker() {
        JobId id = add(TestJobs.spec("work"));
        claimAndDie("worker-1", 1);
        LostClaim first = takeOver("worker-2", Duration.ZERO);
        LostClaim second = takeOver("worker-3");
        assertThat(second.lostWorker()).isEqualTo("worker-1");
        assertThat(second.lostToken()).isEqualTo(first.claim().token());
        assertThat(second.claim().token()).isGreaterThan(first.claim().token());
        assertThat(settle(TestSettlements.loss(first.claim(), only(first.claim())))
                        .stale())
                .containsExactly(id);
        assertThat(settle(TestSettlements.loss(second.claim(), only(second.claim())))
                        .stale())
                .isEmpty();
        assertThat(store().attempts(id)).extracting(Attempt::worker).containsExactly("worker-1");
        assertThat(read(id).counts().losses()).isEqualTo(1);
    }

    @Test
    default void history_blames_a_loss_on_the_worker_that_was_lost() {
        JobId id = add(TestJobs.spec("work"));
        claimAndDie("worker-1", 1);
        Claim taken = takeOver("worker-2").claim();
        settle(TestSettlements.loss(taken, only(taken)));
        Attempt attempt = store().attempts(id).get(0);
        assertThat(attempt.worker()).isEqualTo("worker-1");
        assertThat(attempt.ending()).isEqualTo(Attempt.Ending.LOST);
    }

    @Test
    default void a_suspects_lease_stays_its_own_when_taken_over() {
        add(TestJobs.spec("work"));
        for (int losses = 0; losses < 2; losses++) {
            Claim claim = claimOne();
            settle(TestSettlements.loss(claim, only(claim)));
        }
        assertThat(claimAndDie("worker-1", 10).alone()).isTrue();
        assertThat(takeOver("worker-2").claim().alone()).isTrue();
    }

    @Test
    default void who_takes_over_is_told_that_the_worker_said_it_goes() {
        add(TestJobs.many(2));
        Claim first = claimAndDie("worker-1", 1);
        Claim second = claimAndDie("worker-1", 1);
        store().excuse("worker-2", List.of(first.token()), true);
        store().excuse("worker-1", List.of(second.token()), true);
        assertThat(excused()).as("by token").containsExactlyInAnyOrder(false, true);
        assertThat(excused()).as("also if the one who took over dies").containsExactlyInAnyOrder(false, true);
    }

    @Test
    default void what_was_excused_can_be_blamed_after_all() {
        add(TestJobs.spec("work"));
        Claim claim = claimAndDie("worker-1", 1);
        store().excuse("worker-1", List.of(claim.token()), true);
        store().excuse("worker-1", List.of(claim.token()), false);
        assertThat(takeOver("worker-2").excused()).isFalse();
    }

    @Test
    default void an_excuse_ends_with_the_lease() {
        add(TestJobs.spec("work"));
        Claim claim = claimAndDie("worker-1", 1);
        store().excuse("worker-1", List.of(claim.token()), true);
        settle(TestSettlements.retry(claim, only(claim), Duration.ZERO));
        claimAndDie("worker-1", 1);
        assertThat(takeOver("worker-2").excused()).isFalse();
    }

    @Test
    default void who_takes_over_is_told_that_a_remote_worker_was_never_heard_of() {
        add(TestJobs.many(4));
        claimRemotely(2);
        claimAndDie("worker-1", 1);
        claimRemotely(1);
        assertThat(unheard())
                .as("a worker of this process is no remote one")
                .containsExactlyInAnyOrder(true, false, true);
        assertThat(unheard()).as("also if the one who took over dies").containsExactlyInAnyOrder(true, false, true);
    }

    @Test
    default void a_remote_worker_that_renewed_its_lease_was_heard_of() {
        add(TestJobs.spec("work"));
        Claim claim = claimRemotely(1);
        store().renew("worker-1", List.of(claim.token()), Duration.ZERO);
        assertThat(unheard()).containsExactly(false);
    }

    @Test
    default void a_remote_worker_that_reported_on_one_job_was_heard_of() {
        add(TestJobs.many(6));
        Claim succeeded = claimRemotely(2);
        Claim snoozed = claimRemotely(2);
        Claim failed = claimRemotely(2);
        store().settle(List.of(
                TestSettlements.success(succeeded, succeeded.jobs().get(0))));
        store().settle(List.of(TestSettlements.snooze(snoozed, snoozed.jobs().get(1), Duration.ofHours(1))));
        store().settle(List.of(TestSettlements.fail(failed, failed.jobs().get(0))));
        assertThat(unheard()).containsExactly(false, false, false);
        assertThat(unheard()).as("also if the one who took over dies").containsExactly(false, false, false);
    }

    @Test
    default void a_remote_claim_says_nothing_of_the_next_one() {
        add(TestJobs.spec("work"));
        Claim claim = claimRemotely(1);
        settle(TestSettlements.putBack(claim, only(claim)));
        claimAndDie("worker-1", 1);
        assertThat(unheard()).containsExactly(false);
    }

    @Test
    default void remote_suspects_and_jobs_of_several_queues_are_unheard_of_too() {
        add(TestJobs.spec("work"));
        for (int losses = 0; losses < 2; losses++) {
            Claim claim = claimOne();
            settle(TestSettlements.loss(claim, only(claim)));
        }
        add(TestJobs.on("other"));
        add(TestJobs.on("third"));
        claim(TestClaims.upTo(3)
                .from("default", "other", "third")
                .lease(Duration.ZERO)
                .remote());
        assertThat(unheard()).containsExactly(true, true, true);
    }

    private Claim claimRemotely(int jobs) {
        return claimOne(TestClaims.upTo(jobs).lease(Duration.ZERO).remote());
    }

    private List<Boolean> unheard() {
        awaitNextInstant();
        return store().takeOver("taker", Duration.ZERO, 10).stream()
                .map(LostClaim::unheard)
                .toList();
    }

    private List<Boolean> excused() {
        awaitNextInstant();
        return store().takeOver("taker", Duration.ZERO, 10).stream()
                .map(LostClaim::excused)
                .toList();
    }

    @Test
    default void a_take_over_is_bounded() {
        add(TestJobs.many(3));
        for (int i = 0; i < 3; i++) {
            claimAndDie("worker-1", 1);
        }
        awaitNextInstant();
        assertThat(store().takeOver("worker-2", TestClaims.LONG, 2)).hasSize(2);
        assertThat(store().takeOver("worker-2", TestClaims.LONG, 2)).hasSize(1);
        assertThat(store().takeOver("worker-2", TestClaims.LONG, 2)).isEmpty();
    }

    @Test
    default void a_request_to_cancel_survives_a_take_over() {
        JobId id = add(TestJobs.spec("work"));
        claimAndDie("worker-1", 1);
        store().cancel(id, NOTE);
        Claim taken = takeOver("worker-2").claim();
        assertThat(only(taken).status().holder()).isEqualTo(new JobStatus.Holder("worker-2", taken.token(), true));
        settle(TestSettlements.loss(taken, only(taken)));
        assertThat(read(id).state()).isEqualTo(JobState.CANCELLED);
    }

    @Test
    default void progress_is_kept_under_a_live_token_only() {
        JobId id = add(TestJobs.spec("work"));
        Claim claim = claimOne();
        assertThat(store().progress(id, claim.token(), new Progress(40, "half way")))
                .isTrue();
        assertThat(read(id).status().progress()).isEqualTo(new Progress(40, "half way"));
        assertThat(store().progress(id, claim.token() + 1, new Progress(99, null)))
                .isFalse();
        assertThat(read(id).status().progress()).isEqualTo(new Progress(40, "half way"));
        succeed(claim);
        assertThat(store().progress(id, claim.token(), new Progress(99, null))).isFalse();
    }
}
