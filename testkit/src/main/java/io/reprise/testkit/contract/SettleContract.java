// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.failure.Failure;
import io.reprise.job.Attempt;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.job.WaitReason;
import io.reprise.retry.FailReason;
import io.reprise.store.Claim;
import io.reprise.store.CountedAs;
import io.reprise.store.Requeue;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The state of a job after its run ends. Fencing has its own contract. */
public interface SettleContract extends StoreFixture {

    /** How many attempts of a job the store keeps. */
    default int historyLimit() {
        return 25;
    }

    @Test
    default void a_success_is_terminal_and_keeps_its_result() {
        JobId id = add(TestJobs.spec("mail"));
        Claim claim = claimOne();
        Settled settled = settle(TestSettlements.success(claim, only(claim), "{\"sent\":1}"));
        Job job = read(id);
        assertThat(settled.stale()).isEmpty();
        assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(job.status().result()).isEqualTo("{\"sent\":1}");
        assertThat(job.status().holder()).isNull();
        assertThat(job.attempts()).isEqualTo(1);
        assertThat(job.times().dueAt()).isNull();
        assertThat(job.times().finishedAt()).isEqualTo(settled.at());
        assertThat(job.times().startedAt()).isEqualTo(settled.at().minus(TestSettlements.RAN));
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
    }

    @Test
    default void a_success_without_result_is_one_too() {
        JobId id = add(TestJobs.spec("mail"));
        succeed(claimOne());
        assertThat(read(id).state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(read(id).status().result()).isNull();
    }

    @Test
    default void a_retrys_due_time_is_the_settled_time_plus_its_delay_exactly() {
        JobId id = add(TestJobs.spec("failing"));
        Claim claim = claimOne();
        Duration delay = Duration.ofSeconds(3_600, 123_456_000);
        Settled settled = settle(TestSettlements.retry(claim, only(claim), delay));
        Job job = read(id);
        Failure failure = TestSettlements.failure();
        assertThat(job.state()).isEqualTo(JobState.PENDING);
        assertThat(job.status().waitReason()).isEqualTo(WaitReason.RETRY);
        assertThat(job.times().dueAt()).isEqualTo(settled.at().plus(delay));
        assertThat(job.nextRetryAt()).isEqualTo(job.times().dueAt());
        assertThat(job.times().lastDelay()).isEqualTo(delay);
        assertThat(job.times().startedAt()).isNull();
        assertThat(job.times().finishedAt()).isNull();
        assertThat(job.status().lastError())
                .isEqualTo(new JobStatus.LastError(failure.type(), failure.message(), failure.fingerprint()));
        assertThat(job.attempts()).isEqualTo(1);
    }

    @Test
    default void no_result_is_visible_while_a_retry_is_pending() {
        JobId id = add(TestJobs.spec("failing"));
        Claim first = claimOne();
        settle(TestSettlements.retry(first, only(first), Duration.ZERO));
        assertThat(read(id).status().result()).isNull();
        Claim second = claimOne();
        assertThat(read(id).status().result()).isNull();
        settle(TestSettlements.success(second, only(second), "1"));
        assertThat(read(id).status().result()).isEqualTo("1");
    }

    @Test
    default void a_failed_job_never_has_a_due_time() {
        JobId id = add(TestJobs.spec("failing"));
        Claim first = claimOne();
        settle(TestSettlements.retry(first, only(first), Duration.ZERO));
        Claim second = claimOne();
        Settled settled = settle(TestSettlements.fail(second, only(second)));
        Job job = read(id);
        assertThat(job.state()).isEqualTo(JobState.FAILED);
        assertThat(job.failReason()).isEqualTo(FailReason.EXHAUSTED);
        assertThat(job.times().dueAt()).isNull();
        assertThat(job.nextRetryAt()).isNull();
        assertThat(job.status().waitReason()).isNull();
        assertThat(job.times().finishedAt()).isEqualTo(settled.at());
        assertThat(job.attempts()).isEqualTo(2);
    }

    @Test
    default void a_wait_may_leave_the_last_delay_as_it_was() {
        JobId id = add(TestJobs.spec("failing"));
        Claim first = claimOne();
        settle(TestSettlements.retry(first, only(first), Duration.ofMillis(0)));
        Claim second = claimOne();
        Settlement.Wait breaker = new Settlement.Wait(WaitReason.BREAKER, Duration.ofHours(1), null);
        settle(TestSettlements.of(id, second.token(), CountedAs.NOTHING, breaker));
        assertThat(read(id).times().lastDelay()).isEqualTo(Duration.ZERO);
        assertThat(read(id).status().waitReason()).isEqualTo(WaitReason.BREAKER);
        assertThat(read(id).nextRetryAt()).isNull();
    }

    @Test
    default void a_claim_put_back_leaves_no_trace() {
        JobId id = add(TestJobs.spec("early"));
        Job before = read(id);
        Claim claim = claimOne();
        settle(TestSettlements.putBack(claim, only(claim)));
        assertThat(read(id)).isEqualTo(before);
        assertThat(store().attempts(id)).isEmpty();
        assertThat(only(claimOne()).id()).isEqualTo(id);
    }

    @Test
    default void an_outcome_that_is_no_success_may_bring_tags_which_the_next_claim_has() {
        JobId id = add(TestJobs.spec("failing").tags(Set.of("a", "trace:b")));
        Claim first = claimOne();
        settle(TestSettlements.retry(first, only(first), Duration.ZERO).tagged(Set.of("a", "run:1")));
        assertThat(read(id).spec().tags()).containsExactlyInAnyOrder("a", "run:1");
        Claim second = claimOne();
        assertThat(only(second).spec().tags()).containsExactlyInAnyOrder("a", "run:1");
        settle(TestSettlements.putBack(second, only(second)));
        Claim third = claimOne();
        assertThat(only(third).spec().tags()).containsExactlyInAnyOrder("a", "run:1");
        settle(TestSettlements.fail(third, only(third)).tagged(Set.of("a", "run:3")));
        assertThat(read(id).spec().tags()).containsExactlyInAnyOrder("a", "run:3");
        Requeue again = new Requeue("retry", Duration.ZERO, null, false, 1, Requeue.Edit.NONE);
        store().requeue(id, again, new AuditNote("tester", "again"));
        Claim fourth = claimOne();
        assertThat(only(fourth).spec().tags()).containsExactlyInAnyOrder("a", "run:3");
        settle(TestSettlements.success(fourth, only(fourth), null).tagged(Set.of("b")));
        assertThat(read(id).spec().tags()).containsExactlyInAnyOrder("a", "run:3");
    }

    @Test
    default void a_cancelled_run_is_terminal() {
        JobId id = add(TestJobs.spec("unwanted"));
        Claim claim = claimOne();
        settle(TestSettlements.cancellation(claim, only(claim)));
        assertThat(read(id).state()).isEqualTo(JobState.CANCELLED);
        assertThat(read(id).times().finishedAt()).isNotNull();
        assertThat(store().attempts(id)).extracting(Attempt::ending).containsExactly(Attempt.Ending.CANCELLED);
    }

    @Test
    default void a_cancellation_asked_for_meanwhile_takes_the_place_of_a_wait_or_failure_and_is_reported() {
        List<JobId> ids = add(TestJobs.many(4));
        Claim claim = claimOne(TestClaims.upTo(4));
        ids.forEach(id -> store().cancel(id, NOTE));
        Settled settled = settle(
                TestSettlements.retry(claim, claim.jobs().get(0), Duration.ZERO),
                TestSettlements.fail(claim, claim.jobs().get(1)),
                TestSettlements.cancellation(claim, claim.jobs().get(2)),
                TestSettlements.success(claim, claim.jobs().get(3)));
        assertThat(settled.cancelled()).containsExactlyInAnyOrder(ids.get(0), ids.get(1));
        assertThat(ids.subList(0, 3))
                .allSatisfy(id -> assertThat(read(id).state()).isEqualTo(JobState.CANCELLED));
        assertThat(read(ids.get(3)).state()).isEqualTo(JobState.SUCCEEDED);
    }

    @Test
    default void claims_are_attempts_plus_losses_plus_interruptions_plus_snoozes() {
        JobId id = add(TestJobs.spec("eventful"));
        Claim claim = claimOne();
        settle(TestSettlements.snooze(claim, only(claim), Duration.ZERO));
        claim = claimOne();
        settle(TestSettlements.interruption(claim, only(claim)));
        claim = claimOne();
        settle(TestSettlements.loss(claim, only(claim)));
        claim = claimOne();
        settle(TestSettlements.putBack(claim, only(claim)));
        claim = claimOne();
        settle(TestSettlements.retry(claim, only(claim), Duration.ZERO));
        succeed(claimOne());
        assertThat(read(id).counts()).isEqualTo(new JobCounts(2, 1, 1, 1, 0));
        assertThat(store().attempts(id))
                .extracting(Attempt::ending)
                .containsExactly(
                        Attempt.Ending.SNOOZED,
                        Attempt.Ending.INTERRUPTED,
                        Attempt.Ending.LOST,
                        Attempt.Ending.FAILED,
                        Attempt.Ending.SUCCEEDED);
        assertThat(store().attempts(id)).extracting(Attempt::number).containsExactly(1, 1, 1, 1, 2);
        assertThat(store().attempts(id)).extracting(Attempt::token).isSorted().doesNotHaveDuplicates();
    }

    @Test
    default void history_keeps_the_newest_runs() {
        JobId id = add(TestJobs.spec("endless"));
        long token = 0;
        for (int run = 0; run < historyLimit() + 5; run++) {
            Claim claim = claimOne();
            token = claim.token();
            settle(TestSettlements.retry(claim, only(claim), Duration.ZERO));
        }
        List<Attempt> kept = store().attempts(id);
        assertThat(kept).hasSize(historyLimit());
        assertThat(kept.get(0).number()).isEqualTo(6);
        assertThat(kept.get(kept.size() - 1).token()).isEqualTo(token);
        assertThat(read(id).attempts()).isEqualTo(historyLimit() + 5);
    }

    @Test
    default void many_outcomes_are_written_in_one_call() {
        List<JobId> ids = add(TestJobs.many(3));
        Claim claim = claimOne(TestClaims.upTo(3));
        List<Job> jobs = claim.jobs();
        Settled settled = store().settle(
                        List.of(
                                TestSettlements.success(claim, jobs.get(0)),
                                TestSettlements.retry(claim, jobs.get(1), Duration.ofHours(1)),
                                TestSettlements.fail(claim, jobs.get(2))),
                        List.of(claim.token()));
        assertThat(settled.stale()).isEmpty();
        assertThat(ids)
                .extracting(id -> read(id).state())
                .containsExactly(JobState.SUCCEEDED, JobState.PENDING, JobState.FAILED);
    }

    @Test
    default void each_of_many_successes_keeps_its_own_start_and_a_stale_one_stops_none() {
        add(TestJobs.many(5));
        Claim claim = claim(TestClaims.upTo(5)).get(0);
        List<Settlement> outcomes = new ArrayList<>();
        for (Job job : claim.jobs()) {
            Duration ran = Duration.ofMillis(outcomes.size());
            outcomes.add(new Settlement(
                    job.id(), claim.token(), CountedAs.ATTEMPT, ran, new Settlement.Succeed(null), null, null));
        }
        settle(outcomes.get(2));
        Settled settled = store().settle(outcomes, List.of(claim.token()));
        assertThat(settled.stale()).containsExactly(outcomes.get(2).job());
        for (int i = 0; i < 5; i++) {
            Job job = read(outcomes.get(i).job());
            assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(Duration.between(job.times().startedAt(), job.times().finishedAt()))
                    .isEqualTo(Duration.ofMillis(i));
        }
        assertThat(count(JobSpec.DEFAULT_QUEUE, JobState.SUCCEEDED)).isEqualTo(5);
    }

    @Test
    default void of_two_outcomes_of_one_job_the_greater_token_counts() {
        JobId id = add(TestJobs.spec("twice"));
        Claim dead = claimOne();
        settle(TestSettlements.retry(dead, only(dead), Duration.ZERO));
        Claim live = claimOne();
        Settled settled = store().settle(
                        List.of(TestSettlements.fail(dead, only(dead)), TestSettlements.fail(live, only(live))),
                        List.of(dead.token(), live.token()));
        assertThat(settled.stale()).as("one of the two is").containsExactly(id);
        assertThat(read(id).state()).isEqualTo(JobState.FAILED);
        assertThat(read(id).attempts()).isEqualTo(2);
        assertThat(store().attempts(id)).extracting(Attempt::token).containsExactly(dead.token(), live.token());
    }

    @Test
    default void of_a_success_and_a_failure_of_one_job_the_greater_token_counts() {
        JobId id = add(TestJobs.spec("twice"));
        Claim dead = claimOne();
        settle(TestSettlements.retry(dead, only(dead), Duration.ZERO));
        Claim live = claimOne();
        settle(TestSettlements.success(live, only(live)), TestSettlements.fail(dead, only(dead)));
        assertThat(read(id).state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(read(id).attempts()).isEqualTo(2);
    }

    @Test
    default void settling_nothing_is_harmless() {
        assertThat(store().settle(List.of(), List.of()).stale()).isEmpty();
        assertThat(store().settle(List.of(), List.of(987_654_321L)).stale()).isEmpty();
    }

    @Test
    default void closing_a_lease_gives_back_what_it_still_holds() {
        List<JobId> ids = add(TestJobs.many(2));
        Job untouched = read(ids.get(1));
        Claim claim = claimOne(TestClaims.upTo(2));
        store().settle(List.of(TestSettlements.success(claim, claim.jobs().get(0))), List.of(claim.token()));
        assertThat(read(ids.get(1))).isEqualTo(untouched);
        Settled late = settle(TestSettlements.success(claim, claim.jobs().get(1)));
        assertThat(late.stale()).containsExactly(ids.get(1));
        assertThat(only(claimOne()).id()).isEqualTo(ids.get(1));
    }

    @Test
    default void a_job_asked_to_cancel_is_cancelled_instead_of_waiting_again() {
        Claim claim = claimAndAskToCancel();
        settle(TestSettlements.retry(claim, only(claim), Duration.ZERO));
        Job job = read(only(claim).id());
        assertThat(job.state()).isEqualTo(JobState.CANCELLED);
        assertThat(job.times().dueAt()).isNull();
        assertThat(job.attempts()).isEqualTo(1);
    }

    @Test
    default void a_job_asked_to_cancel_is_cancelled_instead_of_put_back_or_failed() {
        Claim putBack = claimAndAskToCancel();
        settle(TestSettlements.putBack(putBack, only(putBack)));
        assertThat(read(only(putBack).id()).state()).isEqualTo(JobState.CANCELLED);
        Claim failed = claimAndAskToCancel();
        settle(TestSettlements.fail(failed, only(failed)));
        assertThat(read(only(failed).id()).state()).isEqualTo(JobState.CANCELLED);
        assertThat(read(only(failed).id()).failReason()).isNull();
    }

    @Test
    default void a_success_beats_a_request_to_cancel() {
        Claim claim = claimAndAskToCancel();
        succeed(claim);
        assertThat(read(only(claim).id()).state()).isEqualTo(JobState.SUCCEEDED);
    }

    private Claim claimAndAskToCancel() {
        JobId id = add(TestJobs.spec("unwanted"));
        Claim claim = claimOne();
        store().cancel(id, NOTE);
        return claim;
    }
}
