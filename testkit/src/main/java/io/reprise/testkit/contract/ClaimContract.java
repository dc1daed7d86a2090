// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.JobStatus;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest.Demand;
import io.reprise.store.Settlement;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which jobs a claim takes, and in which order. */
public interface ClaimContract extends StoreFixture {

    @Test
    default void a_claimed_job_runs_under_its_holder_and_token() {
        JobId id = add(TestJobs.spec("mail"));
        Claim claim = claimOne(TestClaims.upTo(5).by("worker-7"));
        assertThat(claim.queue()).isEqualTo("default");
        assertThat(claim.alone()).isFalse();
        assertThat(only(claim).id()).isEqualTo(id);
        assertThat(only(claim).type()).isEqualTo("mail");
        for (Job job : List.of(only(claim), read(id))) {
            assertThat(job.state()).isEqualTo(JobState.RUNNING);
            assertThat(job.status().holder()).isEqualTo(new JobStatus.Holder("worker-7", claim.token(), false));
            assertThat(job.status().waitReason()).isNull();
            assertThat(job.times().dueAt()).isNull();
            assertThat(job.times().startedAt()).isEqualTo(claim.claimedAt());
        }
    }

    @Test
    default void a_claim_tells_of_each_job_what_a_look_at_it_tells() {
        add(TestJobs.spec("plain"));
        add(TestJobs.spec("rich")
                .priority(2)
                .resource("stripe")
                .tags(Set.of("a", "b"))
                .timeout(Duration.ofSeconds(5)));
        add(TestJobs.spec("plain")
                .policy(RetryPolicy.fixed(Duration.ofSeconds(1)).complete()));
        add(TestJobs.spec("plain").policy(RetryPolicy.none()));
        add(TestJobs.spec("another").priority(-1));
        JobId failing = add(TestJobs.spec("failing").priority(9));
        Claim first = claimOne();
        settle(TestSettlements.retry(first, only(first), Duration.ZERO));
        List<Job> claimed = TestClaims.jobs(claim(TestClaims.upTo(10)));
        assertThat(claimed).extracting(Job::id).contains(failing).hasSize(6);
        assertThat(claimed).allSatisfy(job -> assertThat(job).isEqualTo(read(job.id())));
    }

    @Test
    default void no_work_means_no_claims() {
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
        add(TestJobs.on("other"));
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
    }

    @Test
    default void a_claim_for_no_jobs_takes_none() {
        add(TestJobs.spec("waiting"));
        assertThat(claim(TestClaims.upTo(0))).isEmpty();
        assertThat(claim(TestClaims.upTo(5).demands())).isEmpty();
        assertThat(claim(TestClaims.upTo(5).demands(new Demand("default", 0)))).isEmpty();
    }

    @Test
    default void a_job_that_is_not_due_is_not_claimed() {
        add(TestJobs.spec("delayed").delay(Duration.ofHours(1)));
        add(TestJobs.spec("dated").dueAt(store().now().plus(Duration.ofHours(1))));
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
    }

    @Test
    default void a_claimed_job_is_not_claimed_again() {
        add(TestJobs.spec("once"));
        claimOne();
        assertThat(claim(TestClaims.upTo(10).by("worker-2"))).isEmpty();
    }

    /** On some stores a large batch begins where the last one ended. */
    @Test
    default void no_job_is_in_two_large_batches_at_once_and_none_is_forgotten() {
        add(TestJobs.many(200));
        add(TestJobs.many(100).stream()
                .map(spec -> spec.toBuilder().priority(3).build())
                .toList());
        Map<JobId, Settlement> held = new LinkedHashMap<>();
        for (int round = 0; round < 20; round++) {
            for (Claim claim : claim(TestClaims.upTo(100))) {
                for (Job job : claim.jobs()) {
                    Settlement outcome = round < 6 ? outcome(claim, job, round) : TestSettlements.success(claim, job);
                    assertThat(held.put(job.id(), outcome)).as("it is held").isNull();
                }
            }
            // Some jobs of each batch stay longer than the next batch.
            List<Settlement> first =
                    held.values().stream().limit((held.size() + 1) * 2L / 3).toList();
            settle(first.toArray(Settlement[]::new));
            first.forEach(settlement -> held.remove(settlement.job()));
        }
        assertThat(count("default", JobState.SUCCEEDED)).isEqualTo(300);
    }

    private static Settlement outcome(Claim claim, Job job, int round) {
        return switch ((int) (job.id().value() + round) % 5) {
            case 0 -> TestSettlements.putBack(claim, job);
            case 1 -> TestSettlements.retry(claim, job, Duration.ZERO);
            case 2 -> TestSettlements.snooze(claim, job, Duration.ZERO);
            default -> TestSettlements.success(claim, job);
        };
    }

    @Test
    default void an_expired_lease_alone_frees_no_job() {
        add(TestJobs.spec("once"));
        claimAndDie("worker-1", 1);
        awaitNextInstant();
        assertThat(claim(TestClaims.upTo(10).by("worker-2"))).isEmpty();
    }

    @Test
    default void higher_priority_comes_first() {
        JobId low = add(TestJobs.spec("low").priority(-9));
        JobId normal = add(TestJobs.spec("normal"));
        JobId high = add(TestJobs.spec("high").priority(9));
        assertThat(TestClaims.ids(claim(TestClaims.upTo(2)))).containsExactly(high, normal);
        assertThat(TestClaims.ids(claim(TestClaims.upTo(2)))).containsExactly(low);
    }

    @Test
    default void within_a_priority_the_earlier_due_comes_first_whatever_its_id() {
        JobId snoozed = add(TestJobs.spec("older"));
        Claim claim = claimOne();
        JobId second = add(TestJobs.spec("younger"));
        awaitNextInstant();
        settle(TestSettlements.snooze(claim, only(claim), Duration.ZERO));
        assertThat(TestClaims.ids(claim(TestClaims.upTo(2)))).containsExactly(second, snoozed);
    }

    @Test
    default void jobs_due_at_the_same_time_come_by_id() {
        List<JobId> ids = add(TestJobs.many(5));
        assertThat(TestClaims.ids(claim(TestClaims.upTo(3)))).containsExactlyElementsOf(ids.subList(0, 3));
    }

    @Test
    default void the_maximum_bounds_all_queues_together() {
        add(List.of(
                TestJobs.on("a").build(),
                TestJobs.on("a").build(),
                TestJobs.on("b").build(),
                TestJobs.on("b").build()));
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(3).from("a", "b"))))
                .extracting(Job::queue)
                .containsExactly("a", "a", "b");
    }

    @Test
    default void each_demand_has_its_own_limit() {
        add(List.of(
                TestJobs.on("a").build(),
                TestJobs.on("a").build(),
                TestJobs.on("b").build(),
                TestJobs.on("b").build()));
        List<Claim> claims = claim(TestClaims.upTo(10).demands(new Demand("a", 1), new Demand("b", 2)));
        assertThat(TestClaims.jobs(claims)).extracting(Job::queue).containsExactly("a", "b", "b");
    }

    @Test
    default void every_queue_gets_a_lease_of_its_own() {
        add(List.of(TestJobs.on("a").build(), TestJobs.on("b").build()));
        List<Claim> claims = claim(TestClaims.upTo(10).from("b", "a"));
        assertThat(claims).extracting(Claim::queue).containsExactly("b", "a");
        assertThat(claims).extracting(Claim::token).doesNotHaveDuplicates();
    }

    @Test
    default void tokens_only_grow() {
        JobId id = add(TestJobs.spec("again"));
        long last = 0;
        for (int run = 0; run < 5; run++) {
            Claim claim = claimOne();
            assertThat(only(claim).id()).isEqualTo(id);
            assertThat(claim.token()).isGreaterThan(last);
            last = claim.token();
            settle(TestSettlements.snooze(claim, only(claim), Duration.ZERO));
        }
    }

    @Test
    default void a_job_past_its_deadline_is_not_claimed() {
        addOverdue(1);
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
    }

    @Test
    default void jobs_that_cannot_run_do_not_starve_those_behind_them() {
        addOverdue(20);
        for (int i = 0; i < 20; i++) {
            add(TestJobs.spec("not-due").priority(9).delay(Duration.ofHours(1)));
        }
        JobId beside = add(TestJobs.spec("good").priority(9));
        JobId behind = add(TestJobs.spec("good").priority(-9));
        assertThat(TestClaims.ids(claim(TestClaims.upTo(5)))).containsExactly(beside, behind);
    }

    @Test
    default void a_passed_deadline_fails_the_waiting_job() {
        List<JobId> overdue = addOverdue(3);
        JobId patient = add(TestJobs.spec("patient").policy(RetryPolicy.unset().deadline(Duration.ofDays(1))));
        List<Job> expired = store().expire(2);
        assertThat(expired).hasSize(2).allSatisfy(job -> {
            assertThat(job.state()).isEqualTo(JobState.FAILED);
            assertThat(job.failReason()).isEqualTo(FailReason.DEADLINE);
            assertThat(job.times().dueAt()).isNull();
            assertThat(job.times().finishedAt()).isNotNull();
            assertThat(job.attempts()).isZero();
            assertThat(read(job.id())).isEqualTo(job);
        });
        assertThat(store().expire(10)).hasSize(1);
        assertThat(store().expire(10)).isEmpty();
        assertThat(overdue).allSatisfy(id -> assertThat(read(id).state()).isEqualTo(JobState.FAILED));
        assertThat(read(patient).state()).isEqualTo(JobState.PENDING);
    }

    @Test
    default void a_running_job_outlives_its_deadline() {
        List<Claim> claims = List.of();
        for (int millis = 20; claims.isEmpty(); millis *= 4) {
            add(TestJobs.spec("slow").policy(RetryPolicy.unset().deadline(Duration.ofMillis(millis))));
            claims = claim(TestClaims.upTo(1));
        }
        Job job = TestClaims.jobs(claims).get(0);
        await(() -> store().now().isAfter(job.times().deadline()));
        assertThat(store().expire(10)).extracting(Job::id).doesNotContain(job.id());
        succeed(claims.get(0));
        assertThat(read(job.id()).state()).isEqualTo(JobState.SUCCEEDED);
    }

    /** Adds waiting jobs of the highest priority whose deadline has passed. */
    private List<JobId> addOverdue(int count) {
        RetryPolicy brief = RetryPolicy.unset().deadline(Duration.ofMillis(1));
        List<JobId> ids = add(Collections.nCopies(
                count, TestJobs.spec("overdue").priority(9).policy(brief).build()));
        await(() -> ids.stream().map(id -> read(id).times().deadline()).allMatch(store().now()::isAfter));
        return ids;
    }
}
