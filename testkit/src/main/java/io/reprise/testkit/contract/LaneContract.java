// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.store.Claim;
import io.reprise.store.Suspects;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How fresh jobs, retries and suspects share a queue. */
public interface LaneContract extends StoreFixture {

    @Test
    default void a_share_of_each_batch_is_kept_for_retries() {
        addRetries(20);
        add(TestJobs.many(20));
        assertThat(retriesIn(claim(TestClaims.upTo(10).retryShare(0.2)))).isEqualTo(2);
    }

    @Test
    default void retries_fill_what_fresh_jobs_leave() {
        addRetries(20);
        add(TestJobs.many(1));
        List<Claim> claims = claim(TestClaims.upTo(10).retryShare(0.2));
        assertThat(TestClaims.jobs(claims)).hasSize(10);
        assertThat(retriesIn(claims)).isEqualTo(9);
    }

    @Test
    default void fresh_jobs_fill_what_retries_leave() {
        addRetries(1);
        add(TestJobs.many(20));
        List<Claim> claims = claim(TestClaims.upTo(10).retryShare(0.5));
        assertThat(TestClaims.jobs(claims)).hasSize(10);
        assertThat(retriesIn(claims)).isEqualTo(1);
    }

    @Test
    default void a_share_of_zero_or_one_is_a_strict_preference() {
        addRetries(5);
        add(TestJobs.many(5));
        assertThat(retriesIn(claim(TestClaims.upTo(2).retryShare(0)))).isZero();
        assertThat(retriesIn(claim(TestClaims.upTo(2).retryShare(1)))).isEqualTo(2);
    }

    @Test
    default void batches_of_one_starve_neither_retries_nor_fresh_jobs() {
        addRetries(40);
        add(TestJobs.many(40));
        int retries = 0;
        for (int i = 0; i < 40; i++) {
            retries += retriesIn(claim(TestClaims.upTo(1).retryShare(0.2)));
        }
        assertThat(retries).isBetween(1, 39);
    }

    @Test
    default void a_retry_waits_for_its_delay() {
        add(TestJobs.spec("failing"));
        Claim claim = claimOne();
        settle(TestSettlements.retry(claim, only(claim), Duration.ofHours(1)));
        assertThat(claim(TestClaims.upTo(10).retryShare(1))).isEmpty();
    }

    @Test
    default void a_waiting_job_holds_no_lease() {
        JobId id = add(TestJobs.spec("failing"));
        Claim claim = claimAndDie("worker-1", 1);
        settle(TestSettlements.retry(claim, only(claim), Duration.ofDays(30)));
        awaitNextInstant();
        assertThat(store().takeOver("worker-2", TestClaims.LONG, 10)).isEmpty();
        assertThat(read(id).status().holder()).isNull();
        assertThat(settle(TestSettlements.success(claim, only(claim))).stale()).containsExactly(id);
    }

    @Test
    default void suspects_run_alone_and_one_at_a_time() {
        List<JobId> suspects = addSuspects(3);
        List<JobId> others = add(TestJobs.many(2));
        List<Claim> claims = claim(TestClaims.upTo(10));
        assertThat(claims).hasSize(2);
        Claim alone = claims.stream().filter(Claim::alone).findFirst().orElseThrow();
        Claim batch =
                claims.stream().filter(claim -> !claim.alone()).findFirst().orElseThrow();
        assertThat(suspects).contains(only(alone).id());
        assertThat(batch.jobs()).extracting(Job::id).containsExactlyElementsOf(others);
        assertThat(alone.token()).isNotEqualTo(batch.token());
        assertThat(claimOne(TestClaims.upTo(10)).alone()).isTrue();
        assertThat(claimOne(TestClaims.upTo(10)).alone()).isTrue();
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
    }

    @Test
    default void suspects_run_together_as_far_as_they_may() {
        List<JobId> suspects = addSuspects(5, 3);
        add(TestJobs.many(1));
        List<Claim> claims = claim(TestClaims.upTo(10).suspects(Suspects.upTo(10)));
        assertThat(claims).hasSize(2);
        Claim group = claims.stream().filter(c -> c.together() > 0).findFirst().orElseThrow();
        assertThat(group.jobs()).extracting(Job::id).containsExactlyElementsOf(suspects.subList(0, 3));
        assertThat(group.together()).isEqualTo(3);
        assertThat(group.alone()).as("any of them may be the killer").isFalse();
        assertThat(claim(TestClaims.upTo(10).suspects(new Suspects(10, 3)))).isEmpty();
        Claim rest = claimOne(TestClaims.upTo(10).suspects(new Suspects(10, 2)));
        assertThat(rest.jobs()).extracting(Job::id).containsExactly(suspects.get(3));
        assertThat(rest.alone()).as("others are held beside it").isFalse();
    }

    @Test
    default void no_more_suspects_are_claimed_than_were_asked_for() {
        addSuspects(5, 100);
        assertThat(claimOne(TestClaims.upTo(10).suspects(Suspects.upTo(2))).jobs())
                .hasSize(2);
        assertThat(claimOne(TestClaims.upTo(1).suspects(Suspects.upTo(2))).jobs())
                .hasSize(1);
        assertThat(claimOne(TestClaims.upTo(10).suspects(Suspects.upTo(10))).jobs())
                .hasSize(2);
    }

    @Test
    default void a_suspect_that_must_be_alone_ends_the_group_before_it() {
        List<JobId> first = addSuspects(2, 10);
        List<JobId> alone = addSuspects(1, 1);
        List<JobId> last = addSuspects(1, 10);
        assertThat(TestClaims.ids(claim(TestClaims.upTo(10).suspects(Suspects.upTo(10)))))
                .isEqualTo(first);
        assertThat(claim(TestClaims.upTo(10).suspects(new Suspects(10, 2)))).isEmpty();
        Claim second = claimOne(TestClaims.upTo(10).suspects(Suspects.upTo(10)));
        assertThat(TestClaims.ids(List.of(second))).isEqualTo(alone);
        assertThat(second.alone()).isTrue();
        assertThat(TestClaims.ids(claim(TestClaims.upTo(10).suspects(Suspects.upTo(10)))))
                .isEqualTo(last);
    }

    @Test
    default void a_suspect_that_is_lost_again_may_run_with_fewer() {
        addSuspects(3, 10);
        Claim group = claimOne(TestClaims.upTo(10).suspects(Suspects.upTo(10)));
        group.jobs().forEach(job -> settle(TestSettlements.loss(group, job, 2)));
        Claim smaller = claimOne(TestClaims.upTo(10).suspects(Suspects.upTo(10)));
        assertThat(smaller.jobs()).hasSize(2);
        smaller.jobs().forEach(job -> settle(TestSettlements.loss(smaller, job)));
        awaitNextInstant();
        assertThat(claimOne(TestClaims.upTo(10).suspects(Suspects.upTo(10))).jobs())
                .hasSize(1);
        assertThat(claimOne(TestClaims.upTo(10).suspects(Suspects.upTo(10))).alone())
                .isTrue();
    }

    @Test
    default void a_limit_on_the_queue_holds_for_a_group_of_suspects() {
        addSuspects(5, 10);
        store().limit(JobSpec.DEFAULT_QUEUE, 3, new AuditNote("ada", "care"));
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(10).suspects(Suspects.upTo(10)))))
                .hasSize(3);
        assertThat(claim(TestClaims.upTo(10).suspects(Suspects.upTo(10)))).isEmpty();
    }

    @Test
    default void suspects_of_several_queues_share_what_a_worker_may_hold() {
        for (String queue : List.of("a", "b")) {
            addSuspects(queue, 2, 3);
        }
        List<Claim> claims = claim(TestClaims.upTo(10).from("a", "b").suspects(Suspects.upTo(10)));
        assertThat(claims).extracting(claim -> claim.jobs().size()).containsExactly(2, 1);
    }

    @Test
    default void a_lost_group_is_not_blamed_as_one_that_was_alone() {
        addSuspects(2, 10);
        Claim group =
                claimOne(TestClaims.upTo(10).by("worker-1").lease(Duration.ZERO).suspects(Suspects.upTo(10)));
        succeed(new Claim(
                group.token(),
                group.queue(),
                group.claimedAt(),
                false,
                group.jobs().subList(0, 1)));
        Claim lost = takeOver("worker-2").claim();
        assertThat(lost.jobs()).hasSize(1);
        assertThat(lost.alone()).isFalse();
    }

    @Test
    default void one_suspect_is_claimed_from_all_queues_together() {
        for (String queue : List.of("a", "b")) {
            add(TestJobs.on(queue));
            for (int losses = 0; losses < 2; losses++) {
                Claim claim = claimOne(TestClaims.upTo(1).from(queue));
                settle(TestSettlements.loss(claim, only(claim)));
            }
        }
        assertThat(claim(TestClaims.upTo(10).from("a", "b"))).hasSize(1);
        assertThat(claim(TestClaims.upTo(10).from("a", "b"))).hasSize(1);
    }

    @Test
    default void suspects_are_left_to_workers_that_want_them() {
        List<JobId> suspects = addSuspects(1);
        assertThat(claim(TestClaims.upTo(10).suspects(false))).isEmpty();
        assertThat(TestClaims.ids(claim(TestClaims.upTo(10)))).isEqualTo(suspects);
    }

    @Test
    default void a_suspect_counts_towards_the_maximum() {
        List<JobId> suspects = addSuspects(1);
        add(TestJobs.many(5));
        assertThat(TestClaims.ids(claim(TestClaims.upTo(1)))).isEqualTo(suspects);
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(3)))).hasSize(3);
    }

    @Test
    default void a_counted_attempt_clears_suspicion() {
        JobId id = addSuspects(1).get(0);
        Claim alone = claimOne();
        settle(TestSettlements.retry(alone, only(alone), Duration.ZERO));
        Claim again = claimOne(TestClaims.upTo(10).suspects(false));
        assertThat(only(again).id()).isEqualTo(id);
        assertThat(again.alone()).isFalse();
    }

    @Test
    default void a_run_that_does_not_count_leaves_a_suspect_a_suspect() {
        addSuspects(1);
        Claim first = claimOne();
        settle(TestSettlements.snooze(first, only(first), Duration.ZERO));
        Claim second = claimOne();
        assertThat(second.alone()).isTrue();
        settle(TestSettlements.interruption(second, only(second)));
        Claim third = claimOne();
        assertThat(third.alone()).isTrue();
        settle(TestSettlements.putBack(third, only(third)));
        assertThat(claimOne().alone()).isTrue();
    }

    @Test
    default void a_batch_lost_once_comes_back_as_a_batch() {
        add(TestJobs.many(3));
        claimAndDie("worker-1", 3);
        Claim lost = takeOver("worker-2").claim();
        lost.jobs().forEach(job -> settle(TestSettlements.loss(lost, job)));
        Claim again = claimOne(TestClaims.upTo(10).suspects(false));
        assertThat(again.jobs()).hasSize(3);
        assertThat(again.alone()).isFalse();
    }

    @Test
    default void innocents_of_a_lost_batch_are_not_blamed() {
        List<JobId> batch = addSuspects(3);
        for (int i = 0; i < 3; i++) {
            succeed(claimOne(TestClaims.upTo(10)));
        }
        assertThat(batch).map(this::read).allSatisfy(job -> {
            assertThat(job.attempts()).isEqualTo(1);
            assertThat(job.counts().losses()).isEqualTo(2);
        });
    }

    private void addRetries(int count) {
        add(TestJobs.many(count));
        for (Claim claim : claim(TestClaims.upTo(count))) {
            claim.jobs().forEach(job -> settle(TestSettlements.retry(claim, job, Duration.ZERO)));
        }
    }

    /** Adds due jobs whose worker was lost twice. */
    private List<JobId> addSuspects(int count) {
        return addSuspects(count, 1);
    }

    private List<JobId> addSuspects(int count, int together) {
        return addSuspects(JobSpec.DEFAULT_QUEUE, count, together);
    }

    private List<JobId> addSuspects(String queue, int count, int together) {
        List<JobId> ids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ids.add(add(TestJobs.on(queue)));
        }
        for (int losses = 0; losses < 2; losses++) {
            Claim claim = claimOne(TestClaims.upTo(count).from(queue).suspects(false));
            claim.jobs().forEach(job -> settle(TestSettlements.loss(claim, job, together)));
        }
        return ids;
    }

    private int retriesIn(List<Claim> claims) {
        return (int) TestClaims.jobs(claims).stream()
                .filter(job -> job.attempts() > 0)
                .count();
    }

    @Test
    default void retries_in_line_with_fresh_jobs_come_by_priority() {
        for (int i = 0; i < 5; i++) {
            add(TestJobs.spec("high").priority(9));
        }
        Claim first = claimOne(TestClaims.upTo(5));
        retry(first, Duration.ZERO);
        for (int i = 0; i < 40; i++) {
            add(TestJobs.spec("low").priority(-5));
        }
        assertThat(store().lineUp("default", false, 3)).isEqualTo(3);
        assertThat(store().lineUp("default", false, 100)).isEqualTo(2);
        assertThat(store().lineUp("default", false, 100)).isZero();
        List<Job> next = TestClaims.jobs(claim(TestClaims.upTo(10)));
        assertThat(next.stream().filter(job -> job.type().equals("high"))).hasSize(5);
        assertThat(next.stream().limit(5)).allSatisfy(job -> {
            assertThat(job.type()).isEqualTo("high");
            assertThat(job.attempts()).isEqualTo(1);
        });
    }

    @Test
    default void retries_in_line_by_creation_take_their_old_places() {
        List<JobId> old = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            old.add(add(TestJobs.spec("old")));
        }
        // Half of them fail. The later one of two retries is due first.
        Claim first = claimOne(TestClaims.upTo(3));
        List<Job> failed = first.jobs();
        settle(TestSettlements.retry(first, failed.get(2), Duration.ZERO));
        settle(TestSettlements.retry(first, failed.get(0), Duration.ZERO));
        settle(TestSettlements.retry(first, failed.get(1), Duration.ofHours(1)));
        for (int i = 0; i < 20; i++) {
            add(TestJobs.spec("new"));
        }
        assertThat(store().lineUp("default", true, 100)).isEqualTo(2);
        assertThat(store().lineUp("default", true, 100)).isZero();
        List<JobId> next =
                TestClaims.jobs(claim(TestClaims.upTo(6))).stream().map(Job::id).toList();
        assertThat(next).hasSize(6);
        assertThat(next.subList(0, 5)).containsExactly(old.get(0), old.get(2), old.get(3), old.get(4), old.get(5));
        assertThat(read(next.get(5)).type()).isEqualTo("new");
        assertThat(read(old.get(1)).times().dueAt()).isAfter(store().now());
    }

    @Test
    default void a_retry_that_takes_its_old_place_is_due_since_it_was_first_due() {
        JobId id = add(TestJobs.spec("old"));
        Claim claim = claimOne(TestClaims.upTo(1));
        settle(TestSettlements.retry(claim, claim.jobs().get(0), Duration.ofMillis(1)));
        Job waiting = read(id);
        await(() -> store().lineUp("default", true, 100) == 1);
        Job placed = read(id);
        assertThat(placed.times().dueAt()).isEqualTo(waiting.times().firstDueAt());
        assertThat(placed.status()).isEqualTo(waiting.status());
        assertThat(placed.counts()).isEqualTo(waiting.counts());
        assertThat(placed.times().lastDelay()).isEqualTo(waiting.times().lastDelay());
    }

    @Test
    default void parked_jobs_that_are_let_go_come_in_line_and_parked_ones_and_suspects_stay() {
        JobId high = add(TestJobs.spec("high").priority(9));
        JobId budget = add(TestJobs.spec("high").priority(8));
        Claim first = claimOne(TestClaims.upTo(2));
        settle(TestSettlements.park(first, first.jobs().get(0), "breaker/mail"));
        settle(TestSettlements.parkedRetry(first, first.jobs().get(1), Duration.ZERO, "budget/mail"));
        for (int i = 0; i < 10; i++) {
            add(TestJobs.spec("low").priority(-5));
        }
        assertThat(store().lineUp("default", false, 100)).isZero();
        assertThat(store().unpark("breaker/mail", 10)).isEqualTo(1);
        assertThat(store().unpark("budget/mail", 10)).isEqualTo(1);
        assertThat(store().lineUp("default", false, 100)).isEqualTo(2);
        List<Job> next = TestClaims.jobs(claim(TestClaims.upTo(4)));
        assertThat(next.stream().map(Job::id).limit(2)).containsExactly(high, budget);
        addSuspects("suspects", 1, 1);
        assertThat(store().lineUp("suspects", true, 100)).isZero();
    }

    private void retry(Claim claim, Duration delay) {
        store().settle(
                        claim.jobs().stream()
                                .map(job -> TestSettlements.retry(claim, job, delay))
                                .toList(),
                        List.of(claim.token()));
    }
}
