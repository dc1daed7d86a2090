// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.JobId;
import io.reprise.JobState;
import io.reprise.WaitReason;
import io.reprise.store.Claim;
import io.reprise.store.Settlement;
import io.reprise.store.Spent;
import io.reprise.store.Standing;
import io.reprise.store.Unparking;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Where a job stands among others. */
public interface StandingContract extends StoreFixture {

    private Standing standing(JobId id) {
        return store().standing(id, 100).orElseThrow();
    }

    @Test
    default void nobody_knows_how_a_job_stands_that_does_not_exist() {
        assertThat(store().standing(new JobId(Long.MAX_VALUE), 10)).isEmpty();
    }

    @Test
    default void a_due_job_knows_who_comes_before_it() {
        JobId first = add(Jobs.spec("work"));
        JobId second = add(Jobs.spec("work"));
        add(Jobs.spec("work").priority(3));
        add(Jobs.spec("work").priority(9));
        add(Jobs.spec("work").priority(9).delay(Duration.ofDays(1)));
        add(Jobs.spec("work").priority(-1));
        add(Jobs.on("elsewhere").priority(9));
        assertThat(standing(first).higher()).isEqualTo(2);
        assertThat(standing(first).earlier()).isZero();
        assertThat(standing(second).higher()).isEqualTo(2);
        assertThat(standing(second).earlier()).isEqualTo(1);
        assertThat(standing(second).job()).isEqualTo(read(second));
    }

    @Test
    default void those_before_a_job_are_counted_up_to_a_limit() {
        add(Jobs.many(12));
        add(Jobs.many(12).stream()
                .map(spec -> spec.toBuilder().priority(5).build())
                .toList());
        JobId last = add(Jobs.spec("work"));
        Standing standing = store().standing(last, 10).orElseThrow();
        assertThat(standing.higher()).isEqualTo(10);
        assertThat(standing.earlier()).isEqualTo(10);
    }

    @Test
    default void those_that_run_are_not_before_it() {
        add(Jobs.spec("work"));
        claimOne();
        JobId id = add(Jobs.spec("work"));
        Standing standing = standing(id);
        assertThat(standing.earlier()).isZero();
        assertThat(standing.running()).isEqualTo(1);
    }

    @Test
    default void a_job_that_is_not_due_stands_behind_nobody() {
        add(Jobs.spec("work").priority(9));
        Standing standing = standing(add(Jobs.spec("work").delay(Duration.ofDays(1))));
        assertThat(standing.higher()).isZero();
        assertThat(standing.earlier()).isZero();
    }

    @Test
    default void a_running_job_stands_under_a_lease() {
        JobId id = add(Jobs.spec("work"));
        assertThat(standing(id).leaseUntil()).isNull();
        claimOne();
        Standing standing = standing(id);
        assertThat(standing.job().state()).isEqualTo(JobState.RUNNING);
        assertThat(Objects.requireNonNull(standing.leaseUntil())).isAfter(standing.at());
    }

    @Test
    default void a_standing_tells_of_the_queue() {
        JobId id = add(Jobs.spec("work"));
        assertThat(standing(id).paused()).isNull();
        assertThat(standing(id).maxRunning()).isNull();
        store().pause("default", NOTE);
        store().limit("default", 3, NOTE);
        assertThat(Objects.requireNonNull(standing(id).paused()).note()).isEqualTo(NOTE);
        assertThat(standing(id).maxRunning()).isEqualTo(3);
    }

    @Test
    default void a_parked_job_names_what_it_waits_for_and_stands_behind_nobody() {
        JobId id = add(Jobs.spec("work"));
        Claim claim = claimOne();
        settle(Settlements.of(
                id, claim.token(), Spent.NOTHING, new Settlement.Park("breaker/mail", WaitReason.BREAKER, null, null)));
        add(Jobs.spec("work").priority(9));
        Standing standing = standing(id);
        assertThat(standing.parkedBy()).isEqualTo("breaker/mail");
        assertThat(standing.higher()).isZero();
        store().unpark(List.of(Unparking.fresh("breaker/mail", 1, Instant.EPOCH)));
        assertThat(standing(id).parkedBy()).isNull();
        assertThat(standing(id).higher()).isEqualTo(1);
    }

    @Test
    default void an_ended_job_stands_alone() {
        JobId id = deadLetter(Jobs.spec("work"));
        add(Jobs.spec("work").priority(9));
        Standing standing = standing(id);
        assertThat(standing.job().state()).isEqualTo(JobState.FAILED);
        assertThat(standing.leaseUntil()).isNull();
        assertThat(standing.parkedBy()).isNull();
        assertThat(standing.higher()).isZero();
    }
}
