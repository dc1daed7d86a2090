// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.mongodb.client.MongoDatabase;
import io.reprise.batch.BatchMember;
import io.reprise.batch.Membership;
import io.reprise.job.AuditNote;
import io.reprise.job.Cancellation;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.WorkerReport;
import io.reprise.step.Checkpoint;
import io.reprise.step.StepWrite;
import io.reprise.step.StoredStep;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.CountedAs;
import io.reprise.store.Document;
import io.reprise.store.JobStore;
import io.reprise.store.Settlement;
import io.reprise.testkit.batches.BatchContract;
import io.reprise.testkit.batches.JoinContract;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** A database that came back from a backup, and those who remember what it has forgotten. */
class MongoRestoreTest {

    @AutoClose
    private final MongoServer server = new MongoServer();

    private static Enqueued enqueue(JobStore store, String key) {
        return store.insert(
                        List.of(JobSpec.builder("a", "{}").idempotencyKey(key).build()))
                .get(0);
    }

    private static Claim claim(JobStore store) {
        return store.claim(new ClaimRequest(
                        "w",
                        Duration.ofHours(1),
                        1,
                        List.of(new ClaimRequest.Demand(JobSpec.DEFAULT_QUEUE, 1)),
                        0.2,
                        true))
                .get(0);
    }

    private static boolean completes(JobStore store, Claim claim) {
        JobId job = claim.jobs().get(0).id();
        Settlement success = new Settlement(
                job, claim.token(), CountedAs.ATTEMPT, Duration.ZERO, new Settlement.Succeed(null), null, null);
        return store.settle(List.of(success), List.of()).stale().isEmpty();
    }

    /** Copies every collection, as a dump of one moment and its restore do. */
    private static void copy(MongoDatabase from, MongoDatabase to) {
        for (String name : from.listCollectionNames()) {
            List<org.bson.Document> all = from.getCollection(name).find().into(new ArrayList<>());
            if (!name.startsWith("system.") && !all.isEmpty()) {
                to.getCollection(name).insertMany(all);
            }
        }
    }

    @Test
    void ids_and_tokens_go_on_beyond_what_others_remember_and_nobody_holds_a_job() {
        JobStore store = server.store();
        JobId first = enqueue(store, "first").id();
        Claim running = claim(store);
        JobId asked = enqueue(store, "asked").id();
        claim(store);
        assertThat(store.cancel(asked, new AuditNote("ada", null))).isEqualTo(Cancellation.REQUESTED);
        store.lead("upkeep", "w", Duration.ofHours(1));
        store.checkIn(new WorkerReport("w", List.of(JobSpec.DEFAULT_QUEUE), List.of("a"), 1, 1), Duration.ofHours(1));

        MongoDatabase backup = server.client().getDatabase(server.database() + "_b");
        copy(server.data(), backup);
        JobId later = enqueue(store, "later").id();
        Claim afterwards = claim(store);
        assertThat(completes(store, afterwards)).isTrue();
        long version = store.putDocument(new Document("kind", "id", 0, "{}")).orElseThrow();

        try (MongoJobStore restored = MongoJobStore.of(server.client(), backup.getName())) {
            restored.prepare();
            restored.afterRestore();
            assertThat(completes(restored, running)).as("a lease of before").isFalse();
            assertThat(restored.find(first).orElseThrow().state()).isEqualTo(JobState.PENDING);
            assertThat(restored.find(first).orElseThrow().counts().losses()).isZero();
            assertThat(restored.find(asked).orElseThrow().state()).isEqualTo(JobState.CANCELLED);
            assertThat(restored.workers()).isEmpty();
            assertThat(restored.lead("upkeep", "other", Duration.ofHours(1))).isTrue();
            assertThat(enqueue(restored, "first").created())
                    .as("is in the backup")
                    .isFalse();
            Enqueued again = enqueue(restored, "later");
            assertThat(again.created()).as("is not in the backup").isTrue();
            assertThat(again.id().value()).isGreaterThan(later.value() + 1_000_000);
            assertThat(restored.putDocument(new Document("kind", "id", 0, "{}")).orElseThrow())
                    .isGreaterThan(version + 1_000_000);
            Claim claim = claim(restored);
            assertThat(claim.jobs().get(0).id()).isEqualTo(first);
            assertThat(claim.token()).isGreaterThan(afterwards.token() + 1_000_000);
            assertThat(completes(restored, claim)).isTrue();
        } finally {
            backup.drop();
        }
    }

    private static Claim claim(JobStore store, String queue) {
        return store.claim(TestClaims.upTo(1).from(queue).build()).get(0);
    }

    /** Returns whether a success under this claim is accepted. */
    private static boolean succeeds(JobStore store, Claim claim) {
        Job job = claim.jobs().get(0);
        Settlement success = BatchContract.counted(TestSettlements.success(claim, job, "\"done\""), job);
        return store.settle(List.of(success), List.of()).stale().isEmpty();
    }

    private static Checkpoint.Answer charge(JobStore store, Claim claim) {
        JobId job = claim.jobs().get(0).id();
        return store.checkpoint(List.of(new Checkpoint(job, claim.token(), StepWrite.done("charge", null, "7"))))
                .get(0);
    }

    @Test
    void steps_joins_and_batches_go_on_where_the_backup_was() {
        JobStore store = server.store();
        JobId order = enqueue(store, "order").id();
        Claim parent = claim(store);
        assertThat(charge(store, parent)).isEqualTo(Checkpoint.Answer.WRITTEN);
        store.settle(List.of(JoinContract.join(parent, JoinContract.children(parent, 2), false)), List.of());
        assertThat(succeeds(store, claim(store, JoinContract.CHILDREN))).isTrue();
        Claim child = claim(store, JoinContract.CHILDREN);
        store.createBatch(
                "nightly", null, JobSpec.builder("report", "{}").queue("after").build());
        store.insert(List.of(
                JobSpec.builder("a", "{}").queue("members").batch("nightly").build()));
        JobId asked = claim(store, "members").jobs().get(0).id();
        store.closeBatch("nightly");
        assertThat(store.cancel(asked, new AuditNote("ada", null))).isEqualTo(Cancellation.REQUESTED);

        MongoDatabase backup = server.client().getDatabase(server.database() + "_s");
        copy(server.data(), backup);
        // Nothing of this is in the backup.
        assertThat(succeeds(store, child)).isTrue();
        Claim woken = claim(store);
        assertThat(woken.jobs().get(0).id()).isEqualTo(order);
        assertThat(succeeds(store, woken)).isTrue();

        try (MongoJobStore restored = MongoJobStore.of(server.client(), backup.getName())) {
            restored.prepare();
            restored.afterRestore();
            assertThat(succeeds(restored, child)).as("a lease of before").isFalse();
            assertThat(succeeds(restored, woken)).as("a lease of after").isFalse();
            assertThat(charge(restored, parent)).as("a step of before").isEqualTo(Checkpoint.Answer.STALE);
            assertThat(restored.steps(order).steps())
                    .extracting(StoredStep::name, StoredStep::state)
                    .containsExactly(
                            tuple("charge", StoredStep.State.DONE), tuple(JoinContract.LABELS, StoredStep.State.OPEN));
            assertThat(restored.batch("nightly").orElseThrow().cancelled()).isEqualTo(1);
            assertThat(claim(restored, "after").jobs().get(0).spec().type())
                    .as("the batch has ended")
                    .isEqualTo("report");

            String join = Membership.join(order, JoinContract.LABELS, parent.token());
            assertThat(restored.batch(join).orElseThrow().open()).isEqualTo(1);
            Claim again = claim(restored, JoinContract.CHILDREN);
            assertThat(again.jobs().get(0).id()).isEqualTo(child.jobs().get(0).id());
            assertThat(again.token()).isGreaterThan(woken.token() + 1_000_000);
            assertThat(succeeds(restored, again)).isTrue();
            assertThat(restored.members(join, -1, 10))
                    .extracting(BatchMember::state)
                    .containsExactly(JobState.SUCCEEDED, JobState.SUCCEEDED);
            Claim joined = claim(restored);
            assertThat(joined.jobs().get(0).id())
                    .as("is due once its children have ended")
                    .isEqualTo(order);
            assertThat(succeeds(restored, joined)).isTrue();
        } finally {
            backup.drop();
        }
    }
}
