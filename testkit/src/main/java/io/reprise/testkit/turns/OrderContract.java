// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.turns;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.fairness.FlowGate;
import io.reprise.fairness.FlowLimit;
import io.reprise.fairness.GroupRules;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest.Demand;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A group in order starts a job only after the one before it has ended. */
public interface OrderContract extends StoreFixture {

    /** The groups whose names begin with "in-" keep their order. */
    GroupRules IN_ORDER = GroupRules.EQUAL.limit("in-*", FlowLimit.inOrder());

    private static List<JobSpec> jobs(String group, int count) {
        return Collections.nCopies(count, TestJobs.spec("work").group(group).build());
    }

    private static TestClaims upTo(int max) {
        return TestClaims.upTo(max).demands(new Demand(JobSpec.DEFAULT_QUEUE, 1_000, IN_ORDER));
    }

    /** Claims until nothing more comes. */
    private List<Claim> all() {
        List<Claim> claims = new ArrayList<>();
        for (int empty = 0; empty < 5; ) {
            List<Claim> some = claim(upTo(20));
            claims.addAll(some);
            empty = some.isEmpty() ? empty + 1 : 0;
        }
        return claims;
    }

    private Claim claimHead(JobId head) {
        List<Claim> claims = all();
        assertThat(TestClaims.ids(claims)).containsExactly(head);
        return claims.get(0);
    }

    @Test
    default void a_job_that_waits_for_its_retry_keeps_its_group_back() {
        List<JobId> ids = add(jobs("in-a", 3));
        Claim head = claimHead(ids.get(0));
        assertThat(all()).as("it runs").isEmpty();
        settle(TestSettlements.retry(head, only(head), Duration.ofHours(1)));
        assertThat(all()).as("it waits").isEmpty();
        JobId other = add(TestJobs.spec("work").group("in-b"));
        JobId free = add(TestJobs.spec("work").group("free"));
        JobId none = add(TestJobs.spec("work"));
        assertThat(TestClaims.ids(all())).containsExactlyInAnyOrder(other, free, none);
        FlowGate gate = store().flow(JobSpec.DEFAULT_QUEUE, IN_ORDER, "in-a");
        assertThat(gate.head("in-a")).isEqualTo(ids.get(0).value());
        assertThat(gate.head("free")).isNull();
    }

    @Test
    default void the_next_job_starts_when_the_one_before_it_has_ended() {
        List<JobId> ids = add(jobs("in-a", 4));
        Claim first = claimHead(ids.get(0));
        settle(TestSettlements.retry(first, only(first), Duration.ZERO));
        awaitNextInstant();
        Claim again = claimHead(ids.get(0));
        settle(TestSettlements.success(again, only(again)));
        Claim second = claimHead(ids.get(1));
        settle(TestSettlements.fail(second, only(second)));
        Claim third = claimHead(ids.get(2));
        settle(TestSettlements.cancellation(third, only(third)));
        claimHead(ids.get(3));
    }

    @Test
    default void a_retry_that_was_given_its_turn_is_found() {
        List<JobId> ids = add(jobs("in-a", 30));
        Claim head = claimHead(ids.get(0));
        settle(TestSettlements.retry(head, only(head), Duration.ZERO));
        awaitNextInstant();
        store().giveTurns(Duration.ZERO, 100);
        claimHead(ids.get(0));
    }

    @Test
    default void a_job_that_was_put_back_or_lost_comes_first_again() {
        List<JobId> ids = add(jobs("in-a", 30));
        Claim head = claimHead(ids.get(0));
        settle(TestSettlements.putBack(head, only(head)));
        awaitNextInstant();
        head = claimHead(ids.get(0));
        settle(TestSettlements.interruption(head, only(head)));
        awaitNextInstant();
        for (int losses = 0; losses < 3; losses++) {
            head = claimHead(ids.get(0));
            settle(TestSettlements.loss(head, only(head)));
            awaitNextInstant();
        }
        head = claimHead(ids.get(0));
        settle(TestSettlements.snooze(head, only(head), Duration.ofHours(1)));
        assertThat(all()).isEmpty();
    }

    @Test
    default void a_claim_of_some_types_keeps_the_order_too() {
        List<JobId> ids = add(jobs("in-a", 2));
        JobId other = add(TestJobs.spec("other").group("in-a"));
        Claim head = claimHead(ids.get(0));
        settle(TestSettlements.retry(head, only(head), Duration.ZERO));
        awaitNextInstant();
        store().giveTurns(Duration.ZERO, 100);
        assertThat(claim(upTo(10).types("other"))).isEmpty();
        head = claimOne(upTo(10).types("work"));
        assertThat(only(head).id()).isEqualTo(ids.get(0));
        succeed(head);
        List<Claim> others = new ArrayList<>();
        await(() -> others.addAll(claim(upTo(10).types("other"))));
        assertThat(TestClaims.ids(others)).containsExactly(other);
    }

    @Test
    default void maintenance_keeps_what_a_group_waits_for() {
        List<JobId> waits = add(jobs("in-a", 2));
        List<JobId> goesOn = add(jobs("in-b", 2));
        for (Claim claim : all()) {
            claim.jobs()
                    .forEach(job -> settle(
                            waits.contains(job.id())
                                    ? TestSettlements.retry(claim, job, Duration.ofHours(1))
                                    : TestSettlements.success(claim, job)));
        }
        store().maintain();
        claimHead(goesOn.get(1));
    }

    @Test
    default void many_groups_that_wait_do_not_hide_one_that_may_start() {
        List<JobSpec> specs = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            specs.addAll(jobs("in-" + i, 2));
        }
        add(specs);
        List<Claim> claims = all();
        assertThat(TestClaims.jobs(claims)).hasSize(60);
        claims.forEach(claim ->
                claim.jobs().forEach(job -> settle(TestSettlements.retry(claim, job, Duration.ofHours(1)))));
        JobId open = add(TestJobs.spec("work").group("in-z"));
        assertThat(TestClaims.ids(claim(upTo(1)))).containsExactly(open);
    }
}
