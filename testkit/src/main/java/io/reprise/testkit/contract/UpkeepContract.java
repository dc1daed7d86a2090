// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.insight.Behind;
import io.reprise.job.AuditEntry;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Claim;
import io.reprise.store.LostClaim;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.testkit.fixture.Crowd;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Upkeep leaves nothing behind, and says whether there is more to do. */
public interface UpkeepContract extends StoreFixture {

    /** Whether the lease is gone, so that it cannot be renewed. */
    private boolean isGone(Claim claim) {
        return store().renew("worker-1", List.of(claim.token()), TestClaims.LONG)
                .lost()
                .contains(claim.token());
    }

    @Test
    default void a_lease_goes_with_its_last_job_though_nobody_closes_it() {
        add(TestJobs.many(4));
        Claim claim = claimOne(TestClaims.upTo(4));
        store().settle(List.of(TestSettlements.success(claim, claim.jobs().get(0))));
        store().settle(List.of(TestSettlements.retry(claim, claim.jobs().get(1), TestClaims.LONG)));
        store().settle(List.of(TestSettlements.fail(claim, claim.jobs().get(2))));
        assertThat(isGone(claim)).isFalse();
        store().settle(List.of(TestSettlements.success(claim, claim.jobs().get(3))));
        assertThat(isGone(claim)).isTrue();
    }

    @Test
    default void leases_go_with_a_batch_of_every_outcome() {
        add(TestJobs.many(6));
        List<Claim> claims = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            claims.add(claimOne(TestClaims.upTo(2)));
        }
        List<Settlement> batch = new ArrayList<>();
        for (Claim claim : claims) {
            batch.add(TestSettlements.success(claim, claim.jobs().get(0)));
        }
        batch.add(TestSettlements.success(claims.get(0), claims.get(0).jobs().get(1)));
        batch.add(TestSettlements.fail(claims.get(1), claims.get(1).jobs().get(1)));
        assertThat(store().settle(batch).stale()).isEmpty();
        assertThat(claims).extracting(this::isGone).containsExactly(true, true, false);
        store().settle(List.of(
                TestSettlements.putBack(claims.get(2), claims.get(2).jobs().get(1))));
        assertThat(claims).extracting(this::isGone).containsOnly(true);
        assertThat(claim(TestClaims.upTo(10))).hasSize(1);
    }

    @Test
    default void a_stale_outcome_does_not_end_a_lease_that_holds_a_job() {
        List<JobId> ids = add(TestJobs.many(2));
        Claim claim = claimOne(TestClaims.upTo(2));
        store().settle(List.of(TestSettlements.success(claim, claim.jobs().get(0))));
        assertThat(store().settle(List.of(
                                TestSettlements.success(claim, claim.jobs().get(0))))
                        .stale())
                .containsExactly(ids.get(0));
        assertThat(isGone(claim)).isFalse();
    }

    @Test
    default void a_lease_whose_jobs_are_settled_from_everywhere_at_once_goes() {
        for (int round = 0; round < 10; round++) {
            add(TestJobs.many(8));
            Claim claim = claimOne(TestClaims.upTo(8));
            Crowd.run(4, server -> {
                for (int i = 0; i < 2; i++) {
                    Job job = claim.jobs().get(2 * server + i);
                    Settlement end = (server + i) % 2 == 0
                            ? TestSettlements.success(claim, job)
                            : TestSettlements.retry(claim, job, TestClaims.LONG);
                    assertThat(store().settle(List.of(end)).stale()).isEmpty();
                }
            });
            assertThat(isGone(claim)).isTrue();
        }
    }

    @Test
    default void a_batch_with_jobs_of_many_leases_ends_those_that_it_empties() {
        add(TestJobs.many(9));
        Claim one = claimOne(TestClaims.upTo(3));
        Claim two = claimOne(TestClaims.upTo(3));
        Claim three = claimOne(TestClaims.upTo(3));
        Job foreign = three.jobs().get(2);
        Settled settled = store().settle(List.of(
                TestSettlements.success(one, one.jobs().get(1)),
                TestSettlements.success(two, two.jobs().get(0)),
                TestSettlements.success(two, two.jobs().get(2)),
                TestSettlements.success(three, three.jobs().get(0)),
                TestSettlements.success(three, three.jobs().get(1)),
                TestSettlements.success(one, foreign)));
        assertThat(settled.stale()).containsExactly(foreign.id());
        assertThat(List.of(one, two, three)).extracting(this::isGone).containsOnly(false);
        settled = store().settle(List.of(
                TestSettlements.success(one, one.jobs().get(0)),
                TestSettlements.success(one, one.jobs().get(2)),
                TestSettlements.success(two, two.jobs().get(1))));
        assertThat(settled.stale()).isEmpty();
        assertThat(List.of(one, two)).extracting(this::isGone).containsOnly(true);
        assertThat(store().settle(List.of(TestSettlements.success(three, foreign)))
                        .stale())
                .isEmpty();
        assertThat(isGone(three)).isTrue();
    }

    @Test
    default void a_dead_workers_lease_does_not_wait_behind_empty_ones() {
        add(TestJobs.many(31));
        List<Claim> empty = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            Claim claim = claimAndDie("worker-1", 1);
            // The caller does not name the lease to close.
            settle(TestSettlements.success(claim, only(claim)));
            empty.add(claim);
        }
        Claim dead = claimAndDie("worker-1", 1);
        awaitNextInstant();
        assertThat(store().takeOver("worker-2", TestClaims.LONG, 10))
                .extracting(LostClaim::lostToken)
                .containsExactly(dead.token());
        int dropped = 7;
        while (dropped == 7) {
            dropped = store().dropEmptyLeases(7);
            assertThat(dropped).isBetween(0, 7);
        }
        assertThat(empty).extracting(this::isGone).containsOnly(true);
    }

    @Test
    default void an_empty_lease_that_has_not_expired_stays() {
        add(TestJobs.many(2));
        Claim claim = claimOne(TestClaims.upTo(2));
        settle(TestSettlements.success(claim, claim.jobs().get(0)));
        awaitNextInstant();
        assertThat(store().dropEmptyLeases(10)).isZero();
        assertThat(isGone(claim)).isFalse();
        assertThat(settle(TestSettlements.success(claim, claim.jobs().get(1))).stale())
                .isEmpty();
    }

    @Test
    default void retention_deletes_exactly_what_it_is_told_to_in_batches_of_any_size() {
        for (int jobs : new int[] {1, 1, 1, 10, 1, 12, 1}) {
            add(TestJobs.many(jobs));
            Claim claim = claimOne(TestClaims.upTo(jobs));
            store().settle(
                            claim.jobs().stream()
                                    .map(job -> TestSettlements.success(claim, job))
                                    .toList(),
                            List.of(claim.token()));
        }
        awaitNextInstant();
        assertThat(prune(4)).isEqualTo(4);
        assertThat(count("default", JobState.SUCCEEDED)).isEqualTo(23);
        assertThat(prune(20)).isEqualTo(20);
        assertThat(prune(20)).isEqualTo(3);
        assertThat(prune(20)).isZero();
        assertThat(store().find(JobQuery.all()).items()).isEmpty();
        assertThat(count("default", JobState.SUCCEEDED)).isZero();
    }

    private int prune(int limit) {
        return store().prune(Set.of(JobState.SUCCEEDED, JobState.CANCELLED), Duration.ZERO, limit);
    }

    @Test
    default void retention_is_not_done_because_a_batch_was_discarded_before() {
        List<JobId> ids = add(TestJobs.many(6));
        for (int i = 0; i < 2; i++) {
            Claim claim = claimOne(TestClaims.upTo(3));
            store().settle(
                            claim.jobs().stream()
                                    .map(job -> TestSettlements.success(claim, job))
                                    .toList(),
                            List.of(claim.token()));
        }
        ids.subList(0, 3).forEach(id -> store().discard(id, NOTE));
        awaitNextInstant();
        int pruned = prune(3);
        assertThat(pruned).isPositive();
        while (pruned > 0) {
            pruned = prune(3);
        }
        assertThat(store().find(JobQuery.all()).items()).isEmpty();
    }

    @Test
    default void history_and_keys_go_with_the_job() {
        JobId id = add(TestJobs.spec("work").idempotencyKey("once"));
        Claim first = claimOne();
        settle(TestSettlements.retry(first, only(first), Duration.ZERO));
        await(() ->
                !claim(TestClaims.upTo(1)).stream().peek(this::succeed).toList().isEmpty());
        assertThat(store().attempts(id)).hasSize(2);
        awaitNextInstant();
        assertThat(prune(10)).isEqualTo(1);
        assertThat(store().attempts(id)).isEmpty();
        assertThat(store().findByIdempotencyKey("once")).isEmpty();
    }

    @Test
    default void old_entries_of_the_audit_log_go_oldest_first() {
        for (int i = 0; i < 5; i++) {
            store().note("test", "thing-" + i, NOTE, null);
            awaitNextInstant();
        }
        assertThat(store().pruneAudit(Duration.ofDays(1), 10)).isZero();
        assertThat(store().pruneAudit(Duration.ZERO, 2)).isEqualTo(2);
        assertThat(store().audit(null, 10))
                .extracting(AuditEntry::subject)
                .containsExactly("thing-4", "thing-3", "thing-2");
        assertThat(store().pruneAudit(Duration.ZERO, 10)).isEqualTo(3);
        assertThat(store().pruneAudit(Duration.ZERO, 10)).isZero();
    }

    private Behind behind(String piece, Map<JobState, Duration> keep) {
        return store().behind(keep).stream()
                .filter(each -> each.piece().equals(piece))
                .findFirst()
                .orElseThrow(() -> new AssertionError("nothing is reported about " + piece));
    }

    @Test
    default void each_piece_of_upkeep_says_how_far_it_is_behind() {
        Map<JobState, Duration> keep = Map.of(JobState.SUCCEEDED, Duration.ZERO, JobState.FAILED, Duration.ofDays(1));
        assertThat(store().behind(keep))
                .extracting(Behind::piece)
                .contains("deadlines", "leases", "retention", "schedules");
        assertThat(store().behind(keep))
                .allSatisfy(piece -> assertThat(piece.by()).isZero());
        add(TestJobs.many(3));
        succeed(claimOne(TestClaims.upTo(2)));
        deadLetter(TestJobs.spec("dead").queue("dead"));
        claimAndDie("worker-1", 1);
        add(TestJobs.spec("late").queue("late").policy(RetryPolicy.unset().deadline(Duration.ofMillis(1))));
        store().putSchedule(
                        "due", "rule", TestJobs.spec("x").build(), store().now().minusSeconds(5));
        store().putSchedule(
                        "later",
                        "rule",
                        TestJobs.spec("x").build(),
                        store().now().plusSeconds(500));
        await(() -> behind("deadlines", keep).rows() == 1
                && behind("leases", keep).rows() >= 1
                && behind("retention", keep).rows() == 2);
        assertThat(behind("schedules", keep).rows()).isPositive();
        assertThat(behind("schedules", keep).by()).isGreaterThanOrEqualTo(Duration.ofSeconds(5));
        assertThat(behind("retention", Map.of()).rows()).isZero();
        Map<JobState, Duration> dead = Map.of(JobState.FAILED, Duration.ZERO);
        await(() -> behind("retention", dead).rows() == 1);
    }

    @Test
    default void what_a_lease_still_holds_is_not_dropped_with_it() {
        JobId id = add(TestJobs.spec("work"));
        claimAndDie("worker-1", 1);
        awaitNextInstant();
        assertThat(store().dropEmptyLeases(10)).isZero();
        assertThat(only(takeOver("worker-2", Duration.ofHours(1)).claim()).id()).isEqualTo(id);
    }
}
