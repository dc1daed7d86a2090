// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.job.Enqueued;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyReusedException;
import io.reprise.job.KeyRule;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestJobs;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A second enqueue with the same idempotency key returns the first job while that job is kept. */
public interface IdempotencyContract extends StoreFixture {

    @Test
    default void a_known_idempotency_key_answers_with_the_first_job() {
        Enqueued first = insert(once().payload("1"));
        Enqueued again = insert(once().payload("2").queue("other"));
        assertThat(first.created()).isTrue();
        assertThat(again.created()).isFalse();
        assertThat(again.id()).isEqualTo(first.id());
        assertThat(read(first.id()).spec().payload()).isEqualTo("1");
        assertThat(store().find(JobQuery.all()).items()).hasSize(1);
    }

    @Test
    default void many_keys_are_known_again_whether_or_not_the_jobs_have_a_unique_key_too() {
        List<JobSpec> many = IntStream.range(0, 1_200)
                .mapToObj(n -> {
                    JobSpec.Builder spec = TestJobs.spec("" + n).idempotencyKey("request-" + n);
                    return (n % 2 == 0 ? spec : spec.key("key-" + n, KeyRule.KEEP)).build();
                })
                .toList();
        List<Enqueued> first = store().insert(many);
        List<Enqueued> again = store().insert(many);
        assertThat(first).allMatch(Enqueued::created);
        assertThat(again).noneMatch(Enqueued::created);
        assertThat(again)
                .extracting(Enqueued::id)
                .isEqualTo(first.stream().map(Enqueued::id).toList());
        for (int n : List.of(0, 1, 1_198, 1_199)) {
            assertThat(read(first.get(n).id()).spec().payload())
                    .isEqualTo(many.get(n).payload());
            assertThat(store().findByIdempotencyKey("request-" + n))
                    .contains(first.get(n).id());
        }
    }

    @Test
    default void the_job_of_an_idempotency_key_is_found() {
        JobId id = add(once());
        assertThat(store().findByIdempotencyKey("request-1")).contains(id);
        assertThat(store().findByIdempotencyKey("request-2")).isEmpty();
    }

    @Test
    default void a_key_that_met_a_held_unique_key_leads_to_its_holder_for_good() {
        JobId holder = add(TestJobs.spec("holder").key("k", KeyRule.KEEP));
        Enqueued first = insert(once().key("k", KeyRule.KEEP));
        assertThat(first.id()).isEqualTo(holder);
        assertThat(first.created()).isFalse();
        succeed(claimOne());
        assertThat(insert(once().key("k", KeyRule.KEEP)).id())
                .as("what the first one was answered, though the unique key is free")
                .isEqualTo(holder);
        assertThat(store().find(JobQuery.all()).items()).hasSize(1);
    }

    @Test
    default void a_key_with_another_proof_is_refused_and_nothing_is_stored() {
        JobId first = add(proven("proof-1").payload("1"));
        assertThat(insert(proven("proof-1").payload("2")).id()).isEqualTo(first);
        assertThat(insert(once()).id()).as("without a proof any will do").isEqualTo(first);
        assertThatThrownBy(() -> store().insert(List.of(
                        TestJobs.spec("other").build(), proven("proof-2").build())))
                .isInstanceOfSatisfying(
                        KeyReusedException.class, e -> assertThat(e.job()).isEqualTo(first));
        assertThat(store().find(JobQuery.all()).items()).hasSize(1);
    }

    @Test
    default void two_specs_of_one_call_share_an_idempotency_key_only_with_the_same_proof() {
        assertThatThrownBy(() -> store().insert(List.of(
                        proven("proof-1").build(), proven("proof-2").build())))
                .isInstanceOf(KeyReusedException.class);
        assertThat(store().find(JobQuery.all()).items()).isEmpty();
        List<Enqueued> answers = store().insert(
                        List.of(proven("proof-1").build(), proven("proof-1").build(), once().build()));
        assertThat(answers).extracting(Enqueued::created).containsExactly(true, false, false);
    }

    @Test
    default void a_proof_holds_under_every_rule_for_the_unique_key() {
        JobId holder = add(TestJobs.spec("holder").key("k", KeyRule.KEEP));
        for (KeyRule rule : List.of(KeyRule.KEEP, KeyRule.REPLACE)) {
            JobSpec.Builder spec = TestJobs.spec("a").key("k", rule).idempotencyKey("request-" + rule, "proof-" + rule);
            assertThat(insert(spec).id()).isEqualTo(holder);
            assertThat(insert(spec).id()).isEqualTo(holder);
            assertThatThrownBy(() -> insert(spec.idempotencyKey("request-" + rule, "other")))
                    .isInstanceOf(KeyReusedException.class);
        }
        succeed(claimOne());
        for (KeyRule rule : List.of(KeyRule.KEEP, KeyRule.REPLACE)) {
            JobSpec.Builder spec = TestJobs.spec("a").key("k", rule).idempotencyKey("request-" + rule, "proof-" + rule);
            assertThat(insert(spec).id()).isEqualTo(holder);
        }
        assertThat(store().find(JobQuery.all()).items()).hasSize(1);
    }

    @Test
    default void a_finished_job_keeps_its_idempotency_key() {
        JobId id = add(once());
        succeed(claimOne());
        assertThat(store().findByIdempotencyKey("request-1")).contains(id);
        Enqueued again = insert(once());
        assertThat(again.id()).isEqualTo(id);
        assertThat(again.created()).isFalse();
    }

    @Test
    default void a_dead_letter_keeps_its_idempotency_key() {
        JobId id = deadLetter(once());
        assertThat(store().findByIdempotencyKey("request-1")).contains(id);
        assertThat(insert(once()).id()).isEqualTo(id);
    }

    @Test
    default void two_specs_of_one_call_share_an_idempotency_key() {
        List<Enqueued> answers =
                store().insert(List.of(once().build(), TestJobs.spec("other").build(), once().build()));
        assertThat(answers).extracting(Enqueued::created).containsExactly(true, true, false);
        assertThat(answers.get(2).id()).isEqualTo(answers.get(0).id());
    }

    @Test
    default void the_idempotency_key_is_looked_at_before_the_unique_key() {
        JobSpec spec = once().key("order-1", KeyRule.REJECT).build();
        JobId id = add(List.of(spec)).get(0);
        assertThatCode(() -> assertThat(add(List.of(spec))).containsExactly(id)).doesNotThrowAnyException();
    }

    @Test
    default void discarding_a_job_frees_its_idempotency_key() {
        JobId id = deadLetter(once());
        store().discard(id, NOTE);
        assertThat(store().findByIdempotencyKey("request-1")).isEmpty();
        assertThat(insert(once()).created()).isTrue();
    }

    @Test
    default void pruning_a_job_frees_its_idempotency_key() {
        add(once());
        succeed(claimOne());
        await(() -> store().prune(Set.of(JobState.SUCCEEDED), Duration.ZERO, 10) == 1);
        assertThat(insert(once()).created()).isTrue();
    }

    private static JobSpec.Builder once() {
        return TestJobs.spec("work").idempotencyKey("request-1");
    }

    private static JobSpec.Builder proven(String proof) {
        return once().idempotencyKey("request-1", proof);
    }
}
