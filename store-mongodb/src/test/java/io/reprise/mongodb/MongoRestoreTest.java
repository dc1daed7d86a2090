// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.MongoDatabase;
import io.reprise.job.AuditNote;
import io.reprise.job.Cancellation;
import io.reprise.job.Enqueued;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.WorkerReport;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.CountedAs;
import io.reprise.store.Document;
import io.reprise.store.JobStore;
import io.reprise.store.Settlement;
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
}
