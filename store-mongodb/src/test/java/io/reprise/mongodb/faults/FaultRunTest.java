// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.faults;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.history.HistoryEvent.Kind;
import io.reprise.mongodb.MongoServer;
import io.reprise.testkit.faults.Tempo;
import io.reprise.testkit.faults.Work;
import java.nio.file.Path;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The check bites: damage done behind the store's back is found. */
@Timeout(600)
class FaultRunTest {

    @TempDir
    private Path directory;

    @Test
    void a_job_that_vanished_and_a_counter_that_was_changed() {
        try (MongoServer server = new MongoServer(null);
                // What calls with short limits failed to learn would excuse the damage.
                FaultRun run = new FaultRun(directory, server, Tempo.SLOW)) {
            for (int i = 0; i < 5; i++) {
                run.load().insist(Work.QUICK);
            }
            run.startWorker().await(Kind.ENDED, 5);
            run.awaitDone();
            server.data().getCollection("reprise_jobs").deleteOne(new Document("_id", 3L));
            server.data()
                    .getCollection("reprise_jobs")
                    .updateOne(new Document("_id", 2L), new Document("$set", new Document("attempts", 2)));
            assertThatThrownBy(() -> run.drainAndCheck("damage"))
                    .hasMessageContaining("Job 3 was acknowledged and is not in the store")
                    .hasMessageContaining("Job 2 has other counters");
        }
    }
}
