// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.reprise.job.DuplicateKeyException;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyReusedException;
import io.reprise.job.KeyRule;
import io.reprise.job.Transaction;
import io.reprise.step.Checkpoint;
import io.reprise.step.StepWrite;
import io.reprise.step.StoredStep;
import io.reprise.store.Claim;
import io.reprise.store.Settlement;
import io.reprise.testkit.batches.BatchContract;
import io.reprise.testkit.batches.JoinContract;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Enqueueing and completing inside a caller's transaction. */
public interface TransactionContract extends StoreFixture {

    /** A transaction that the test opened, as an application would. */
    interface OpenTransaction extends AutoCloseable {

        Transaction handle();

        void commit();

        void rollback();

        /** Releases its resources; rolls back if neither was called. */
        @Override
        void close();
    }

    /** Opens a transaction; null if the store does not support callers' transactions. */
    default @Nullable OpenTransaction begin() {
        return null;
    }

    /** Whether the store can write while a caller's transaction that wrote is open. */
    default boolean writesBesideTransactions() {
        return true;
    }

    @Test
    default void a_foreign_transaction_is_refused() {
        Transaction foreign = new Transaction() {};
        assertThatIllegalArgumentException().isThrownBy(() -> store().within(foreign));
    }

    @Test
    default void an_insert_becomes_visible_with_the_callers_commit() {
        try (OpenTransaction transaction = open()) {
            JobId id = insertWithin(transaction, TestJobs.spec("work")).id();
            assertThat(store().find(id)).isEmpty();
            transaction.commit();
            assertThat(read(id).state()).isEqualTo(JobState.PENDING);
        }
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(10)))).hasSize(1);
        assertThat(count("default", JobState.RUNNING)).isEqualTo(1);
    }

    @Test
    default void an_insert_vanishes_with_the_callers_rollback() {
        JobSpec.Builder spec =
                TestJobs.spec("work").key("order-1", KeyRule.REJECT).idempotencyKey("once");
        try (OpenTransaction transaction = open()) {
            insertWithin(transaction, spec);
            transaction.rollback();
        }
        assertThat(store().find(JobQuery.all()).items()).isEmpty();
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
        assertThat(insert(spec).created()).isTrue();
        assertThat(count("default", JobState.PENDING)).isEqualTo(1);
    }

    @Test
    default void an_insert_meets_keys_that_are_held_already() {
        JobId holder = add(TestJobs.spec("work").key("order-1", KeyRule.KEEP));
        try (OpenTransaction transaction = open()) {
            Enqueued inserted = insertWithin(transaction, TestJobs.spec("work").key("order-1", KeyRule.KEEP));
            assertThat(inserted.id()).isEqualTo(holder);
            assertThat(inserted.created()).isFalse();
            transaction.commit();
        }
    }

    @Test
    default void a_batch_with_a_reused_idempotency_key_leaves_nothing_in_the_callers_transaction() {
        JobId first = add(TestJobs.spec("first").idempotencyKey("request-1", "proof-1"));
        List<JobSpec> refused = List.of(
                TestJobs.spec("plain").build(),
                TestJobs.spec("other").idempotencyKey("request-0", "proof-2").build(),
                TestJobs.spec("work").idempotencyKey("request-1", "proof-3").build());
        try (OpenTransaction transaction = open()) {
            assertThatExceptionOfType(KeyReusedException.class)
                    .isThrownBy(() -> store().within(transaction.handle()).insert(refused));
            transaction.commit();
        }
        assertThat(store().find(JobQuery.all()).items()).extracting(Job::id).containsExactly(first);
        assertThat(store().findByIdempotencyKey("request-0")).isEmpty();
    }

    @Test
    default void a_batch_with_a_rejected_unique_key_leaves_nothing_in_the_callers_transaction() {
        JobId first = add(TestJobs.spec("first").key("order-1", KeyRule.KEEP));
        List<JobSpec> refused = List.of(
                TestJobs.spec("other").build(),
                TestJobs.spec("work").key("order-1", KeyRule.REJECT).build());
        try (OpenTransaction transaction = open()) {
            assertThatExceptionOfType(DuplicateKeyException.class)
                    .isThrownBy(() -> store().within(transaction.handle()).insert(refused));
            transaction.commit();
        }
        assertThat(store().find(JobQuery.all()).items()).extracting(Job::id).containsExactly(first);
    }

    @Test
    default void an_outcome_becomes_visible_with_the_callers_commit() {
        JobId id = add(TestJobs.spec("work"));
        Claim claim = claimOne();
        try (OpenTransaction transaction = open()) {
            settleWithin(transaction, claim);
            assertThat(read(id).state()).isEqualTo(JobState.RUNNING);
            transaction.commit();
        }
        assertThat(read(id).state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(settle(TestSettlements.fail(claim, only(claim))).stale()).containsExactly(id);
        assertThat(count("default", JobState.SUCCEEDED)).isEqualTo(1);
    }

    @Test
    default void an_outcome_vanishes_with_the_callers_rollback() {
        JobId id = add(TestJobs.spec("work"));
        Claim claim = claimOne();
        try (OpenTransaction transaction = open()) {
            settleWithin(transaction, claim);
            transaction.rollback();
        }
        assertThat(read(id).state()).isEqualTo(JobState.RUNNING);
        assertThat(store().attempts(id)).isEmpty();
        succeed(claim);
        assertThat(read(id).attempts()).isEqualTo(1);
        assertThat(count("default", JobState.SUCCEEDED)).isEqualTo(1);
    }

    @Test
    default void a_stale_outcome_is_reported_inside_a_transaction_too() {
        JobId id = add(TestJobs.spec("work"));
        Claim zombie = claimAndDie("worker-1", 1);
        takeOver("worker-2");
        try (OpenTransaction transaction = open()) {
            assertThat(store().within(transaction.handle())
                            .settle(List.of(TestSettlements.success(zombie, only(zombie))), List.of())
                            .stale())
                    .containsExactly(id);
            transaction.commit();
        }
        assertThat(read(id).state()).isEqualTo(JobState.RUNNING);
    }

    @Test
    default void a_lease_being_settled_by_a_caller_is_not_taken_over() {
        JobId id = add(TestJobs.spec("work"));
        Claim claim = claimAndDie("worker-1", 1);
        awaitNextInstant();
        try (OpenTransaction transaction = open()) {
            assumeTrue(writesBesideTransactions(), "This store has one writer at a time");
            settleWithin(transaction, claim);
            assertThat(store().takeOver("worker-2", TestClaims.LONG, 10)).isEmpty();
            transaction.commit();
        }
        assertThat(read(id).state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(store().takeOver("worker-2", TestClaims.LONG, 10)).isEmpty();
    }

    @Test
    default void a_step_commits_with_the_callers_work() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        Checkpoint checkpoint = new Checkpoint(id, claim.token(), StepWrite.done("book", null, null));
        try (OpenTransaction transaction = open()) {
            assertThat(store().within(transaction.handle()).checkpoint(List.of(checkpoint)))
                    .containsExactly(Checkpoint.Answer.WRITTEN);
            transaction.rollback();
        }
        assertThat(store().steps(id).steps()).isEmpty();
        try (OpenTransaction transaction = open()) {
            store().within(transaction.handle()).checkpoint(List.of(checkpoint));
            transaction.commit();
        }
        assertThat(store().steps(id).steps()).extracting(StoredStep::name).containsExactly("book");
    }

    @Test
    default void a_stale_step_in_the_callers_transaction_is_refused() {
        JobId id = add(TestJobs.spec("order"));
        Claim lost = claimAndDie("old", 1);
        takeOver("new");
        try (OpenTransaction transaction = open()) {
            assertThat(store().within(transaction.handle())
                            .checkpoint(List.of(new Checkpoint(id, lost.token(), StepWrite.done("book", null, null)))))
                    .containsExactly(Checkpoint.Answer.STALE);
            transaction.rollback();
        }
        assertThat(store().steps(id).steps()).isEmpty();
    }

    @Test
    default void a_child_that_ends_in_an_older_transaction_wakes_its_parent() {
        assumeTrue(writesBesideTransactions(), "This store has one writer at a time");
        JobId id = add(TestJobs.spec("order"));
        Claim parent = claimOne();
        settle(JoinContract.join(parent, JoinContract.children(parent, 1), false));
        Claim child = claimOne(TestClaims.upTo(1).from(JoinContract.CHILDREN));
        store().requeue(id, BatchContract.AGAIN, NOTE);
        Claim again = claimOne();
        try (OpenTransaction older = open()) {
            insertWithin(older, TestJobs.on("other"));
            settle(JoinContract.join(again, List.of(), true));
            if (!endWithin(older, child)) {
                store().settle(List.of(ended(child)), List.of());
            }
        }
        assertThat(only(claimOne()).id()).isEqualTo(id);
    }

    private Settlement ended(Claim child) {
        return BatchContract.counted(TestSettlements.success(child, only(child), "1"), only(child));
    }

    /** Returns false if the transaction is too old to see that the parent waits, and cannot be committed. */
    private boolean endWithin(OpenTransaction transaction, Claim child) {
        try {
            store().within(transaction.handle()).settle(List.of(ended(child)), List.of());
            transaction.commit();
            return true;
        } catch (RuntimeException e) {
            // A caller gets the error of its own driver, and tries its transaction again.
            transaction.rollback();
            return false;
        }
    }

    private OpenTransaction open() {
        OpenTransaction transaction = begin();
        assumeTrue(transaction != null, "This store takes no part in callers' transactions");
        if (transaction == null) {
            throw new AssertionError("assumed away");
        }
        return transaction;
    }

    private Enqueued insertWithin(OpenTransaction transaction, JobSpec.Builder spec) {
        return store().within(transaction.handle())
                .insert(List.of(spec.build()))
                .get(0);
    }

    private void settleWithin(OpenTransaction transaction, Claim claim) {
        assertThat(store().within(transaction.handle())
                        .settle(List.of(TestSettlements.success(claim, only(claim))), List.of())
                        .stale())
                .isEmpty();
    }
}
