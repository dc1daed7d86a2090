// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.job.JobTimes;
import io.reprise.job.WaitReason;
import io.reprise.retry.FailReason;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The rules that all stores share. */
class StoreKitTest {

    private static final Settlement.Next WAIT = new Settlement.Wait(WaitReason.RETRY, Duration.ZERO, null);

    private static Settlement settlement(CountedAs spent, Settlement.Next next) {
        return settlement(1, 1, spent, next);
    }

    private static Settlement settlement(long job, long token, CountedAs spent, Settlement.Next next) {
        return new Settlement(new JobId(job), token, spent, Duration.ZERO, next, null, null);
    }

    private static JobCounts losses(int losses) {
        return new JobCounts(0, losses, 0, 0, 2);
    }

    @Test
    void a_share_of_a_small_batch_is_paid_out_over_batches() {
        RetryShare share = new RetryShare();
        List<Integer> kept = new ArrayList<>();
        for (int batch = 0; batch < 10; batch++) {
            kept.add(share.kept("queue", 1, 0.2));
            share.claimed("queue", 1, 0.2);
        }
        assertThat(kept).containsExactly(0, 0, 0, 0, 1, 0, 0, 0, 0, 1);
        assertThat(share.kept("other", 1, 0.2)).isZero();
    }

    @Test
    void fresh_jobs_and_retries_fill_what_the_other_leaves() {
        assertThat(RetryShare.retries(10, 10, 10, 2)).isEqualTo(2);
        assertThat(RetryShare.retries(3, 10, 10, 2)).isEqualTo(7);
        assertThat(RetryShare.retries(10, 1, 10, 2)).isEqualTo(1);
        assertThat(RetryShare.retries(0, 20, 10, 2)).isEqualTo(10);
        assertThat(RetryShare.retries(10, 20, 10, 12)).isEqualTo(10);
    }

    @Test
    void a_claim_moves_one_counter() {
        JobCounts before = new JobCounts(1, 2, 3, 4, 5);
        assertThat(CountedAs.ATTEMPT.addTo(before)).isEqualTo(new JobCounts(2, 2, 3, 4, 5));
        assertThat(CountedAs.LOSS.addTo(before)).isEqualTo(new JobCounts(1, 3, 3, 4, 5));
        assertThat(CountedAs.INTERRUPTION.addTo(before)).isEqualTo(new JobCounts(1, 2, 4, 4, 5));
        assertThat(CountedAs.SNOOZE.addTo(before)).isEqualTo(new JobCounts(1, 2, 3, 5, 5));
        assertThat(CountedAs.NOTHING.addTo(before)).isEqualTo(before);
    }

    @Test
    void a_job_that_waits_after_its_second_loss_is_a_suspect_until_it_has_run() {
        assertThat(settlement(CountedAs.LOSS, WAIT)
                        .on(losses(0), Lane.FRESH, false)
                        .lane())
                .isEqualTo(Lane.FRESH);
        assertThat(settlement(CountedAs.LOSS, WAIT)
                        .on(losses(1), Lane.RETRY, false)
                        .lane())
                .isEqualTo(Lane.SUSPECT);
        assertThat(settlement(CountedAs.LOSS, new Settlement.PutBack())
                        .on(losses(1), Lane.FRESH, false)
                        .lane())
                .isEqualTo(Lane.FRESH);
        assertThat(settlement(CountedAs.SNOOZE, WAIT)
                        .on(losses(2), Lane.SUSPECT, false)
                        .lane())
                .isEqualTo(Lane.SUSPECT);
        assertThat(settlement(CountedAs.ATTEMPT, WAIT)
                        .on(losses(2), Lane.SUSPECT, false)
                        .lane())
                .isEqualTo(Lane.RETRY);
    }

    @Test
    void a_requested_cancellation_takes_the_place_of_any_outcome_but_a_success() {
        Settlement.Effect success =
                settlement(CountedAs.ATTEMPT, new Settlement.Succeed(null)).on(JobCounts.NONE, Lane.FRESH, true);
        assertThat(success.state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(success.cancelledInstead()).isFalse();
        for (Settlement.Next next :
                List.of(WAIT, new Settlement.PutBack(), new Settlement.Fail(FailReason.EXHAUSTED))) {
            Settlement.Effect effect = settlement(CountedAs.ATTEMPT, next).on(JobCounts.NONE, Lane.FRESH, true);
            assertThat(effect.state()).isEqualTo(JobState.CANCELLED);
            assertThat(effect.cancelledInstead()).isTrue();
        }
        assertThat(settlement(CountedAs.ATTEMPT, new Settlement.Cancel())
                        .on(JobCounts.NONE, Lane.FRESH, true)
                        .cancelledInstead())
                .isFalse();
        assertThat(settlement(CountedAs.ATTEMPT, WAIT)
                        .on(JobCounts.NONE, Lane.FRESH, false)
                        .state())
                .isNull();
    }

    @Test
    void the_kept_attempt_says_how_the_claim_ended() {
        assertThat(settlement(CountedAs.ATTEMPT, new Settlement.Succeed(null)).ending())
                .isEqualTo(Attempt.Ending.SUCCEEDED);
        assertThat(settlement(CountedAs.ATTEMPT, WAIT).ending()).isEqualTo(Attempt.Ending.FAILED);
        assertThat(settlement(CountedAs.ATTEMPT, new Settlement.Cancel()).ending())
                .isEqualTo(Attempt.Ending.CANCELLED);
        assertThat(settlement(CountedAs.LOSS, new Settlement.Fail(FailReason.QUARANTINED))
                        .ending())
                .isEqualTo(Attempt.Ending.LOST);
    }

    @Test
    void of_two_settlements_of_a_job_the_newer_token_counts() {
        Settlement old = settlement(1, 5, CountedAs.ATTEMPT, WAIT);
        Settlement young = settlement(1, 7, CountedAs.ATTEMPT, WAIT);
        Settlement other = settlement(2, 6, CountedAs.ATTEMPT, WAIT);
        Set<JobId> stale = new HashSet<>();
        assertThat(Settlement.newest(List.of(young, other, old), stale)).containsExactly(young, other);
        assertThat(stale).containsExactly(new JobId(1));
    }

    @Test
    void an_edit_changes_what_it_names() {
        JobSpec spec = JobSpec.builder("type", "1").queue("old").priority(3).build();
        assertThat(Requeue.Edit.NONE.applyTo(spec)).isEqualTo(spec);
        assertThat(new Requeue.Edit(true, "new", "2").applyTo(spec))
                .isEqualTo(JobSpec.builder("type", "2").queue("new").priority(3).build());
    }

    @Test
    void queues_share_what_a_request_asks_for_and_suspects_come_first() {
        ClaimRequest request = new ClaimRequest(
                "worker",
                Duration.ofMinutes(1),
                5,
                List.of(
                        new ClaimRequest.Demand("a", 4),
                        new ClaimRequest.Demand("b", 4),
                        new ClaimRequest.Demand("c", 1)),
                0.2,
                Suspects.upTo(3),
                Set.of());
        List<String> asked = new ArrayList<>();
        List<Claim> claims = ClaimPlan.overQueues(
                request,
                (queue, room, suspects) -> ClaimPlan.suspectsFirst(
                        room,
                        suspects,
                        most -> {
                            asked.add(queue + " suspects " + most);
                            return claim(queue, 2).ofSuspects(10);
                        },
                        most -> {
                            asked.add(queue + " batch " + most);
                            return most == 2 ? claim(queue, 1) : null;
                        }));
        // Of five, queue a gives two suspects and one job. Queue b has room for two: its suspects fill it.
        assertThat(asked).containsExactly("a suspects 3", "a batch 2", "b suspects 1");
        assertThat(claims).hasSize(3);
    }

    private static Claim claim(String queue, int jobs) {
        List<Job> some = IntStream.range(0, jobs)
                .mapToObj(n -> new Job(
                        new JobId(n + 1),
                        JobSpec.builder("type", "1").build(),
                        new JobStatus(JobState.RUNNING, null, null, null, null, null, null),
                        JobCounts.NONE,
                        new JobTimes(Instant.EPOCH, Instant.EPOCH, null, null, null, null, null)))
                .toList();
        return new Claim(1, queue, Instant.EPOCH, false, some);
    }
}
