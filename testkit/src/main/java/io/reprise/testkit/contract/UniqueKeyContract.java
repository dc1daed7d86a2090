// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.reprise.job.DuplicateKeyException;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.store.Claim;
import io.reprise.testkit.fixture.Crowd;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** At most one live job holds a unique key. */
public interface UniqueKeyContract extends StoreFixture {

    @Test
    default void a_kept_key_answers_with_its_holder() {
        Enqueued first = insert(keyed(KeyRule.KEEP).payload("1"));
        Enqueued second = insert(keyed(KeyRule.KEEP).payload("2"));
        assertThat(second.created()).isFalse();
        assertThat(second.id()).isEqualTo(first.id());
        assertThat(second.dueAt()).isEqualTo(first.dueAt());
        assertThat(read(first.id()).spec().payload()).isEqualTo("1");
        assertThat(store().find(JobQuery.all()).items()).hasSize(1);
    }

    @Test
    default void of_many_keys_in_one_call_each_is_looked_at_by_itself() {
        JobId holder = add(TestJobs.spec("holder").key("held", KeyRule.KEEP));
        JobId known = add(TestJobs.spec("known").idempotencyKey("known"));
        List<Enqueued> stored = store().insert(List.of(
                TestJobs.spec("plain").build(),
                TestJobs.spec("new").key("new", KeyRule.KEEP).build(),
                TestJobs.spec("new").key("new", KeyRule.KEEP).build(),
                TestJobs.spec("held").key("held", KeyRule.KEEP).build(),
                TestJobs.spec("both")
                        .key("both", KeyRule.REJECT)
                        .idempotencyKey("both")
                        .build(),
                TestJobs.spec("known").idempotencyKey("known").build(),
                TestJobs.spec("both")
                        .key("both", KeyRule.REJECT)
                        .idempotencyKey("both")
                        .build(),
                TestJobs.spec("redirected")
                        .key("held", KeyRule.KEEP)
                        .idempotencyKey("redirected")
                        .build(),
                TestJobs.spec("proven").idempotencyKey("proven", "proof").build(),
                TestJobs.spec("replaced")
                        .key("replaced", KeyRule.REPLACE)
                        .payload("1")
                        .build(),
                TestJobs.spec("replaced")
                        .key("replaced", KeyRule.REPLACE)
                        .payload("2")
                        .build()));
        assertThat(stored)
                .extracting(Enqueued::created)
                .containsExactly(true, true, false, false, true, false, false, false, true, true, false);
        assertThat(stored.get(2).id()).isEqualTo(stored.get(1).id());
        assertThat(stored.get(3).id()).isEqualTo(holder);
        assertThat(stored.get(5).id()).isEqualTo(known);
        assertThat(stored.get(6).id()).isEqualTo(stored.get(4).id());
        assertThat(stored.get(7).id()).isEqualTo(holder);
        assertThat(store().findByIdempotencyKey("redirected")).contains(holder);
        assertThat(store().findByIdempotencyKey("both")).contains(stored.get(4).id());
        assertThat(store().findByIdempotencyKey("proof")).contains(stored.get(8).id());
        assertThat(stored.get(10).id()).isEqualTo(stored.get(9).id());
        assertThat(read(stored.get(10).id()).spec().payload()).isEqualTo("2");
        assertThat(read(stored.get(4).id()).spec().key()).isEqualTo("both");
        assertThat(store().find(JobQuery.all()).items()).hasSize(7);
    }

    @Test
    default void of_hundreds_alike_in_one_call_each_key_is_looked_at_by_itself() {
        JobId holder = add(TestJobs.spec("a").key("k3", KeyRule.KEEP));
        JobId known = add(TestJobs.spec("a").idempotencyKey("i5"));
        List<JobSpec> specs = new ArrayList<>();
        for (int i = 0; i < 250; i++) {
            JobSpec.Builder spec = TestJobs.spec("a").payload("" + i);
            specs.add(
                    switch (i % 4) {
                        case 0 -> spec.build();
                        case 1 -> spec.idempotencyKey("i" + i, "proof " + i).build();
                        case 2 ->
                            spec.key("k'\"" + i, KeyRule.REJECT)
                                    .idempotencyKey("i" + i)
                                    .build();
                        default -> spec.key("k" + i, KeyRule.KEEP).build();
                    });
        }
        specs.set(5, TestJobs.spec("a").idempotencyKey("i5").build());
        specs.set(
                6,
                TestJobs.spec("a").key("k3", KeyRule.KEEP).idempotencyKey("i6").build());
        List<Enqueued> stored = store().insert(specs);
        for (int i = 0; i < specs.size(); i++) {
            JobId id = stored.get(i).id();
            boolean created = i != 3 && i != 5 && i != 6;
            assertThat(stored.get(i).created()).as("job %s", i).isEqualTo(created);
            if (created) {
                JobSpec found = read(id).spec();
                assertThat(found.payload()).as("payload of %s", i).isEqualTo("" + i);
                assertThat(found.key())
                        .as("key of %s", i)
                        .isEqualTo(specs.get(i).key());
                assertThat(found.keyRule()).isEqualTo(specs.get(i).keyRule());
                assertThat(found.idempotencyKey()).isEqualTo(specs.get(i).idempotencyKey());
                assertThat(read(id).times().dueAt()).isEqualTo(stored.get(i).dueAt());
            }
        }
        assertThat(stored.get(3).id()).isEqualTo(holder);
        assertThat(stored.get(5).id()).isEqualTo(known);
        assertThat(stored.get(6).id()).isEqualTo(holder);
        assertThat(store().findByIdempotencyKey("i6")).contains(holder);
        assertThat(store().findByIdempotencyKey("i101"))
                .contains(stored.get(101).id());
        assertThat(store().findByIdempotencyKey("proof 101"))
                .contains(stored.get(101).id());
        assertThat(stored.stream().map(Enqueued::id).distinct()).hasSize(249);
        assertThat(store().insert(specs.subList(100, 250)))
                .as("again")
                .filteredOn(Enqueued::created)
                .hasSize(38);
    }

    @Test
    default void of_many_keys_in_one_call_one_that_is_refused_refuses_all() {
        add(TestJobs.spec("holder").key("held", KeyRule.KEEP));
        List<JobSpec> specs = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            specs.add(TestJobs.spec("new")
                    .key("new-" + i, KeyRule.KEEP)
                    .idempotencyKey("new-" + i)
                    .build());
        }
        specs.add(7, TestJobs.spec("refused").key("held", KeyRule.REJECT).build());
        assertThatExceptionOfType(DuplicateKeyException.class).isThrownBy(() -> store().insert(specs));
        assertThat(store().find(JobQuery.all()).items()).hasSize(1);
        assertThat(store().findByIdempotencyKey("new-0")).isEmpty();
    }

    @Test
    default void many_who_store_the_same_keys_at_once_store_each_once() {
        int keys = 40;
        Crowd.run(4, number -> {
            List<JobSpec> specs = new ArrayList<>();
            for (int i = 0; i < keys; i++) {
                specs.add(
                        i % 2 == 0
                                ? TestJobs.spec("a").key("k" + i, KeyRule.KEEP).build()
                                : TestJobs.spec("a").idempotencyKey("k" + i).build());
            }
            Collections.rotate(specs, 10 * number);
            assertThat(store().insert(specs)).hasSize(keys);
        });
        assertThat(store().find(JobQuery.all().limit(1_000)).items()).hasSize(keys);
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
        settle(TestSettlements.retry(claim, only(claim), Duration.ofHours(1)));
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
        assertThat(insert(TestJobs.spec("work").key("ORDER-1", KeyRule.REJECT)).created())
                .isTrue();
        assertThat(insert(TestJobs.spec("work").key("order-1 ", KeyRule.REJECT)).created())
                .isTrue();
    }

    @Test
    default void a_rejected_key_names_its_holder_and_stores_nothing_of_the_call() {
        JobId holder = add(keyed(KeyRule.KEEP));
        List<JobSpec> specs = List.of(
                TestJobs.spec("innocent").idempotencyKey("once").build(),
                keyed(KeyRule.REJECT).build());
        assertThatExceptionOfType(DuplicateKeyException.class)
                .isThrownBy(() -> store().insert(specs))
                .satisfies(e -> assertThat(e.holder()).isEqualTo(holder))
                .satisfies(e -> assertThat(e.key()).isEqualTo("order-1"));
        assertThat(store().find(JobQuery.all()).items()).hasSize(1);
        assertThat(count("default", JobState.PENDING)).isEqualTo(1);
        assertThat(insert(TestJobs.spec("innocent").idempotencyKey("once")).created())
                .isTrue();
    }

    @Test
    default void two_specs_of_one_call_meet_like_two_calls() {
        List<Enqueued> kept = store().insert(
                        List.of(keyed(KeyRule.KEEP).build(), keyed(KeyRule.KEEP).build()));
        assertThat(kept).extracting(Enqueued::created).containsExactly(true, false);
        assertThat(kept.get(0).id()).isEqualTo(kept.get(1).id());
        JobSpec rejected = TestJobs.spec("work").key("order-2", KeyRule.REJECT).build();
        assertThatExceptionOfType(DuplicateKeyException.class)
                .isThrownBy(() -> store().insert(List.of(rejected, rejected)));
        assertThat(store().find(JobQuery.all()).items()).hasSize(1);
    }

    @Test
    default void a_replaced_job_keeps_its_id_and_counters() {
        JobId id = add(keyed(KeyRule.KEEP).payload("1"));
        Claim claim = claimOne();
        settle(TestSettlements.retry(claim, only(claim), Duration.ofHours(5)));
        Enqueued replaced = insert(keyed(KeyRule.REPLACE)
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
    default void requests_that_keep_coming_put_a_job_off_only_to_its_bound() {
        JobId id = add(keyed(KeyRule.REPLACE).delay(Duration.ofMinutes(10)).atLatest(Duration.ofMinutes(15)));
        Instant created = read(id).times().createdAt();
        Enqueued later = insert(keyed(KeyRule.REPLACE)
                .payload("2")
                .delay(Duration.ofMinutes(20))
                .atLatest(Duration.ofMinutes(15)));
        assertThat(later.id()).isEqualTo(id);
        assertThat(later.dueAt()).isEqualTo(created.plus(Duration.ofMinutes(15)));
        assertThat(read(id).times().dueAt()).isEqualTo(later.dueAt());
        assertThat(read(id).spec().payload()).isEqualTo("2");
        Enqueued sooner =
                insert(keyed(KeyRule.REPLACE).delay(Duration.ofMinutes(5)).atLatest(Duration.ofMinutes(15)));
        assertThat(sooner.dueAt()).isBefore(later.dueAt());
        Enqueued unbounded = insert(keyed(KeyRule.REPLACE).delay(Duration.ofMinutes(20)));
        assertThat(unbounded.dueAt()).isAfter(later.dueAt());
        Enqueued overdue =
                insert(keyed(KeyRule.REPLACE).delay(Duration.ofMinutes(20)).atLatest(Duration.ZERO));
        assertThat(overdue.dueAt()).isBeforeOrEqualTo(store().now());
        assertThat(only(claimOne()).id()).isEqualTo(id);
    }

    @Test
    default void a_replaced_job_is_claimed_by_its_new_due_time_and_queue() {
        JobId id = add(keyed(KeyRule.KEEP).delay(Duration.ofHours(1)));
        insert(keyed(KeyRule.REPLACE).queue("other"));
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
        assertThat(only(claimOne(TestClaims.upTo(10).from("other"))).id()).isEqualTo(id);
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
        return TestJobs.spec("work").key("order-1", rule);
    }
}
