// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.reprise.DuplicateKeyException;
import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.JobState;
import io.reprise.KeyRule;
import io.reprise.store.Claim;
import io.reprise.store.Inserted;
import io.reprise.store.JobQuery;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** At most one live job holds a unique key. */
public interface UniqueKeyContract extends StoreFixture {

    @Test
    default void a_kept_key_answers_with_its_holder() {
        Inserted first = insert(keyed(KeyRule.KEEP).payload("1"));
        Inserted second = insert(keyed(KeyRule.KEEP).payload("2"));
        assertThat(second.created()).isFalse();
        assertThat(second.id()).isEqualTo(first.id());
        assertThat(second.dueAt()).isEqualTo(first.dueAt());
        assertThat(read(first.id()).spec().payload()).isEqualTo("1");
        assertThat(store().find(JobQuery.all()).items()).hasSize(1);
    }

    @Test
    default void a_running_job_holds_its_key() {
        JobId id = add(keyed(KeyRule.KEEP));
        claimOne();
        assertThat(insert(keyed(KeyRule.KEEP)).id()).isEqualTo(id);
    }

    @Test
    default void a_waiting_retry_holds_its_key() {
        JobId id = add(keyed(KeyRule.KEEP));
        Claim claim = claimOne();
        settle(Settlements.retry(claim, only(claim), Duration.ofHours(1)));
        assertThat(insert(keyed(KeyRule.KEEP)).id()).isEqualTo(id);
    }

    @Test
    default void a_lost_job_holds_its_key_until_its_token_is_closed() {
        JobId id = add(keyed(KeyRule.KEEP));
        claimAndDie("worker-1", 1);
        takeOver("worker-2");
        assertThat(insert(keyed(KeyRule.KEEP)).id()).isEqualTo(id);
    }

    @Test
    default void every_terminal_state_frees_the_key() {
        JobId succeeded = add(keyed(KeyRule.REJECT));
        succeed(claimOne());
        JobId failed = deadLetter(keyed(KeyRule.REJECT));
        JobId cancelled = add(keyed(KeyRule.REJECT));
        store().cancel(cancelled, NOTE);
        assertThat(List.of(succeeded, failed, cancelled)).doesNotHaveDuplicates();
        assertThat(insert(keyed(KeyRule.REJECT)).created()).isTrue();
    }

    @Test
    default void different_keys_do_not_meet() {
        assertThat(insert(keyed(KeyRule.REJECT)).created()).isTrue();
        assertThat(insert(Jobs.spec("work").key("ORDER-1", KeyRule.REJECT)).created())
                .isTrue();
        assertThat(insert(Jobs.spec("work").key("order-1 ", KeyRule.REJECT)).created())
                .isTrue();
    }

    @Test
    default void a_rejected_key_names_its_holder_and_stores_nothing_of_the_call() {
        JobId holder = add(keyed(KeyRule.KEEP));
        List<JobSpec> specs = List.of(
                Jobs.spec("innocent").idempotencyKey("once").build(),
                keyed(KeyRule.REJECT).build());
        assertThatExceptionOfType(DuplicateKeyException.class)
                .isThrownBy(() -> store().insert(specs))
                .satisfies(e -> assertThat(e.holder()).isEqualTo(holder))
                .satisfies(e -> assertThat(e.key()).isEqualTo("order-1"));
        assertThat(store().find(JobQuery.all()).items()).hasSize(1);
        assertThat(count("default", JobState.PENDING)).isEqualTo(1);
        assertThat(insert(Jobs.spec("innocent").idempotencyKey("once")).created())
                .isTrue();
    }

    @Test
    default void two_specs_of_one_call_meet_like_two_calls() {
        List<Inserted> kept = store().insert(
                        List.of(keyed(KeyRule.KEEP).build(), keyed(KeyRule.KEEP).build()));
        assertThat(kept).extracting(Inserted::created).containsExactly(true, false);
        assertThat(kept.get(0).id()).isEqualTo(kept.get(1).id());
        JobSpec rejected = Jobs.spec("work").key("order-2", KeyRule.REJECT).build();
        assertThatExceptionOfType(DuplicateKeyException.class)
                .isThrownBy(() -> store().insert(List.of(rejected, rejected)));
        assertThat(store().find(JobQuery.all()).items()).hasSize(1);
    }

    @Test
    default void a_replaced_job_keeps_its_id_and_counters() {
        JobId id = add(keyed(KeyRule.KEEP).payload("1"));
        Claim claim = claimOne();
        settle(Settlements.retry(claim, only(claim), Duration.ofHours(5)));
        Inserted replaced = insert(keyed(KeyRule.REPLACE)
                .payload("2")
                .priority(5)
                .timeout(Duration.ofMinutes(1))
                .delay(Duration.ofHours(1)));
        Job job = read(id);
        assertThat(replaced.id()).isEqualTo(id);
        assertThat(replaced.created()).isFalse();
        assertThat(job.spec().payload()).isEqualTo("2");
        assertThat(job.spec().priority()).isEqualTo(5);
        assertThat(job.spec().timeout()).isEqualTo(Duration.ofMinutes(1));
        assertThat(job.times().dueAt()).isEqualTo(replaced.dueAt());
        assertThat(replaced.dueAt()).isBefore(store().now().plus(Duration.ofHours(2)));
        assertThat(job.attempts()).isEqualTo(1);
        assertThat(store().attempts(id)).hasSize(1);
        assertThat(store().find(JobQuery.all()).items()).hasSize(1);
    }

    @Test
    default void a_replaced_job_is_claimed_by_its_new_due_time_and_queue() {
        JobId id = add(keyed(KeyRule.KEEP).delay(Duration.ofHours(1)));
        insert(keyed(KeyRule.REPLACE).queue("other"));
        assertThat(claim(Claims.upTo(10))).isEmpty();
        assertThat(only(claimOne(Claims.upTo(10).from("other"))).id()).isEqualTo(id);
    }

    @Test
    default void a_running_job_is_not_replaced() {
        JobId id = add(keyed(KeyRule.KEEP).payload("1"));
        claimOne();
        assertThatExceptionOfType(DuplicateKeyException.class)
                .isThrownBy(() -> insert(keyed(KeyRule.REPLACE).payload("2")))
                .satisfies(e -> assertThat(e.holder()).isEqualTo(id));
        assertThat(read(id).spec().payload()).isEqualTo("1");
    }

    @Test
    default void replacing_nothing_is_inserting() {
        assertThat(insert(keyed(KeyRule.REPLACE)).created()).isTrue();
    }

    private static JobSpec.Builder keyed(KeyRule rule) {
        return Jobs.spec("work").key("order-1", rule);
    }
}
