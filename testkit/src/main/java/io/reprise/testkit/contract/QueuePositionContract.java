// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.insight.QueuePosition;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.WaitReason;
import io.reprise.store.Claim;
import io.reprise.store.CountedAs;
import io.reprise.store.Settlement;
import io.reprise.store.Unparking;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Where a job stands among others. */
public interface QueuePositionContract extends StoreFixture {

    private QueuePosition queuePosition(JobId id) {
        return store().queuePosition(id, 100).orElseThrow();
    }

    @Test
    default void nobody_knows_how_a_job_stands_that_does_not_exist() {
        assertThat(store().queuePosition(new JobId(Long.MAX_VALUE), 10)).isEmpty();
    }

    @Test
    default void a_due_job_knows_who_comes_before_it() {
        JobId first = add(TestJobs.spec("work"));
        JobId second = add(TestJobs.spec("work"));
        add(TestJobs.spec("work").priority(3));
        add(TestJobs.spec("work").priority(9));
        add(TestJobs.spec("work").priority(9).delay(Duration.ofDays(1)));
        add(TestJobs.spec("work").priority(-1));
        add(TestJobs.on("elsewhere").priority(9));
        assertThat(queuePosition(first).higher()).isEqualTo(2);
        assertThat(queuePosition(first).earlier()).isZero();
        assertThat(queuePosition(second).higher()).isEqualTo(2);
        assertThat(queuePosition(second).earlier()).isEqualTo(1);
        assertThat(queuePosition(second).job()).isEqualTo(read(second));
    }

    @Test
    default void those_before_a_job_are_counted_up_to_a_limit() {
        add(TestJobs.many(12));
        add(TestJobs.many(12).stream()
                .map(spec -> spec.toBuilder().priority(5).build())
                .toList());
        JobId last = add(TestJobs.spec("work"));
        QueuePosition queuePosition = store().queuePosition(last, 10).orElseThrow();
        assertThat(queuePosition.higher()).isEqualTo(10);
        assertThat(queuePosition.earlier()).isEqualTo(10);
    }

    @Test
    default void those_that_run_are_not_before_it() {
        add(TestJobs.spec("work"));
        claimOne();
        JobId id = add(TestJobs.spec("work"));
        QueuePosition queuePosition = queuePosition(id);
        assertThat(queuePosition.earlier()).isZero();
        assertThat(queuePosition.running()).isEqualTo(1);
    }

    @Test
    default void a_job_that_is_not_due_stands_behind_nobody() {
        add(TestJobs.spec("work").priority(9));
        QueuePosition queuePosition = queuePosition(add(TestJobs.spec("work").delay(Duration.ofDays(1))));
        assertThat(queuePosition.higher()).isZero();
        assertThat(queuePosition.earlier()).isZero();
    }

    @Test
    default void a_running_job_stands_under_a_lease() {
        JobId id = add(TestJobs.spec("work"));
        assertThat(queuePosition(id).leaseUntil()).isNull();
        claimOne();
        QueuePosition queuePosition = queuePosition(id);
        assertThat(queuePosition.job().state()).isEqualTo(JobState.RUNNING);
        assertThat(Objects.requireNonNull(queuePosition.leaseUntil())).isAfter(queuePosition.at());
    }

    @Test
    default void a_queue_position_tells_of_the_queue() {
        JobId id = add(TestJobs.spec("work"));
        assertThat(queuePosition(id).paused()).isNull();
        assertThat(queuePosition(id).maxRunning()).isNull();
        store().pause("default", NOTE);
        store().limit("default", 3, NOTE);
        assertThat(Objects.requireNonNull(queuePosition(id).paused()).note()).isEqualTo(NOTE);
        assertThat(queuePosition(id).maxRunning()).isEqualTo(3);
    }

    @Test
    default void a_queue_position_tells_of_the_limit_that_leaves_less_room() {
        add(TestJobs.on("a"));
        JobId id = add(TestJobs.on("a").needs(List.of("gpu")));
        store().limit("a", 1, NOTE);
        claimOne(TestClaims.upTo(1).from("a"));
        assertThat(queuePosition(id).maxRunning()).isEqualTo(1);
        assertThat(queuePosition(id).running()).isEqualTo(1);
        store().limit("a@needs:gpu", 0, NOTE);
        store().limit("a", 5, NOTE);
        assertThat(queuePosition(id).maxRunning()).isZero();
        assertThat(queuePosition(id).running()).isZero();
    }

    @Test
    default void a_parked_job_names_what_it_waits_for_and_stands_behind_nobody() {
        JobId id = add(TestJobs.spec("work"));
        Claim claim = claimOne();
        settle(TestSettlements.of(
                id,
                claim.token(),
                CountedAs.NOTHING,
                new Settlement.Park("breaker/mail", WaitReason.BREAKER, null, null)));
        add(TestJobs.spec("work").priority(9));
        QueuePosition queuePosition = queuePosition(id);
        assertThat(queuePosition.parkedBy()).isEqualTo("breaker/mail");
        assertThat(queuePosition.higher()).isZero();
        store().unpark(List.of(Unparking.fresh("breaker/mail", 1, Instant.EPOCH)));
        assertThat(queuePosition(id).parkedBy()).isNull();
        assertThat(queuePosition(id).higher()).isEqualTo(1);
    }

    @Test
    default void an_ended_job_stands_alone() {
        JobId id = deadLetter(TestJobs.spec("work"));
        add(TestJobs.spec("work").priority(9));
        QueuePosition queuePosition = queuePosition(id);
        assertThat(queuePosition.job().state()).isEqualTo(JobState.FAILED);
        assertThat(queuePosition.leaseUntil()).isNull();
        assertThat(queuePosition.parkedBy()).isNull();
        assertThat(queuePosition.higher()).isZero();
    }
}
