// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.reprise.insight.DeadGroup;
import io.reprise.job.Cancellation;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.MongoEndings;
import io.reprise.retry.FailReason;
import io.reprise.store.Claim;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import io.reprise.testkit.contract.DeadLetterContract;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.util.List;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Where dead letters are, and what a crash in the middle of a move leaves on a server without transactions. */
class DeadLettersTest implements StoreFixture {

    private MongoServer server;

    @BeforeEach
    void open() {
        server = new MongoServer(null, MongoJobStore.builder().deadLettersIn(MongoServer.DEAD_LETTERS));
    }

    @AfterEach
    void close() {
        server.close();
    }

    @Override
    public JobStore store() {
        return server.store();
    }

    private Document letter(JobId id) {
        Document letter = server.deadLetters().find(JobDocs.byId(id)).first();
        assertThat(letter).isNotNull();
        return letter;
    }

    private List<Long> jobs() {
        return MongoQueries.ids(server.jobs().find(new Document()));
    }

    private JobId dead() {
        return deadLetter(TestJobs.spec("dead"));
    }

    /** Everybody sees it once. */
    private void assertOneDeadLetter(JobId id) {
        assertThat(read(id).state()).isEqualTo(JobState.FAILED);
        assertThat(store().find(JobQuery.all()).items()).extracting(Job::id).containsExactly(id);
        assertThat(store().deadGroups(JobQuery.all(), 10).items())
                .extracting(DeadGroup::count)
                .containsExactly(1L);
        assertThat(count("default", JobState.FAILED)).isEqualTo(1);
    }

    @Test
    void a_job_that_died_is_in_its_own_collection_with_the_fields_a_person_looks_for() {
        JobId id = dead();
        assertThat(jobs()).isEmpty();
        assertThat(letter(id))
                .containsEntry("status", "failed")
                .containsEntry("attempts", 1)
                .containsKeys("error", "created_at", "updated_at", "history")
                .doesNotContainKey(FieldNames.MOVING);
    }

    @Test
    void one_that_is_put_back_is_a_job_again_and_dies_again() {
        JobId id = dead();
        store().requeue(id, DeadLetterContract.RETRY, NOTE);
        assertThat(jobs()).containsExactly(id.value());
        assertThat(server.deadLetters().countDocuments()).isZero();
        die();
        assertThat(letter(id)).containsEntry("attempts", 2);
        assertOneDeadLetter(id);
    }

    private void die() {
        Claim claim = claimOne();
        settle(TestSettlements.fail(claim, only(claim)));
    }

    @Test
    void a_crash_before_the_move_leaves_a_dead_letter_that_is_moved_later() {
        JobId id = dead();
        undoMove(id);
        assertOneDeadLetter(id);
        store().maintain();
        assertThat(jobs()).isEmpty();
        assertOneDeadLetter(id);
    }

    /** As if the process had ended after the outcome was written. */
    private void undoMove(JobId id) {
        Document letter = letter(id);
        server.jobs().insert(letter);
        server.deadLetters().deleteOne(JobDocs.byId(id));
    }

    @Test
    void a_crash_between_copy_and_removal_leaves_one_dead_letter() {
        JobId id = dead();
        copyRemains(id);
        assertOneDeadLetter(id);
        store().maintain();
        assertThat(jobs()).isEmpty();
        assertThat(letter(id)).doesNotContainKey(FieldNames.MOVING);
        assertOneDeadLetter(id);
    }

    private void copyRemains(JobId id) {
        server.jobs().insert(letter(id));
        server.deadLetters()
                .updateOne(
                        JobDocs.byId(id),
                        Change.none().set(FieldNames.MOVING, true).build());
    }

    @Test
    void a_copy_that_remained_of_a_job_put_back_is_nobody() {
        JobId id = dead();
        copyRemains(id);
        store().requeue(id, DeadLetterContract.RETRY, NOTE);
        assertThat(read(id).state()).isEqualTo(JobState.PENDING);
        assertThat(store().find(JobQuery.all()).items()).hasSize(1);
        assertThat(store().cancel(id, NOTE)).isEqualTo(Cancellation.DONE);
        store().maintain();
        assertThat(server.deadLetters().countDocuments()).isZero();
        assertThat(read(id).state()).isEqualTo(JobState.CANCELLED);
    }

    @Test
    void a_crash_while_it_is_brought_back_leaves_one_dead_letter() {
        JobId id = dead();
        copyRemains(id);
        server.jobs().update(JobDocs.byId(id), Change.none().set(FieldNames.LIFE, 1L));
        assertOneDeadLetter(id);
        store().maintain();
        assertThat(jobs()).isEmpty();
        assertThat(letter(id)).containsEntry(FieldNames.LIFE, 1L).doesNotContainKey(FieldNames.MOVING);
        assertOneDeadLetter(id);
    }

    @Test
    void discarding_what_is_in_both_places_leaves_it_in_none() {
        JobId id = dead();
        copyRemains(id);
        assertThat(store().discard(id, NOTE)).isTrue();
        assertThat(jobs()).isEmpty();
        assertThat(server.deadLetters().countDocuments()).isZero();
    }

    @Test
    void what_died_before_is_moved_when_a_store_is_told_to_and_stores_opened_later_know() {
        try (MongoServer other = new MongoServer(null)) {
            JobStore before = other.store();
            before.insert(List.of(TestJobs.spec("dead").build()));
            other.jobs().updateAll(new Document(), MongoEndings.fail(Change.none(), FailReason.PERMANENT, 1));
            MongoJobStore moving = MongoJobStore.builder()
                    .deadLettersIn(MongoServer.DEAD_LETTERS)
                    .of(other.client(), other.database());
            moving.prepare();
            assertThat(other.deadLetters().countDocuments()).isEqualTo(1);
            MongoJobStore later = MongoJobStore.of(other.client(), other.database());
            later.prepare();
            assertThat(later.find(JobQuery.all()).items()).hasSize(1);
            MongoJobStore elsewhere =
                    MongoJobStore.builder().deadLettersIn("elsewhere").of(other.client(), other.database());
            assertThatExceptionOfType(StoreException.class)
                    .isThrownBy(elsewhere::prepare)
                    .matches(e -> !e.isTransient())
                    .withMessageContaining(MongoServer.DEAD_LETTERS);
        }
    }
}
