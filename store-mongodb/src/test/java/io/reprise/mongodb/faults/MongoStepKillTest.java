// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.faults;

import io.reprise.mongodb.MongoJobStore;
import io.reprise.mongodb.MongoServer;
import io.reprise.testkit.steps.KillEverywhere;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A worker that is killed anywhere repeats no step. */
class MongoStepKillTest {

    @TempDir
    Path directory;

    @Test
    void a_killed_worker_repeats_no_step() {
        try (MongoServer server = new MongoServer()) {
            server.assumeReal("transactions");
            server.data().createCollection(MongoOrderWorker.EFFECTS);
            MongoJobStore store = MongoJobStore.builder().of(server.client(), server.database());
            new KillEverywhere(MongoOrderWorker.class, server.url(), directory).run(store, 4, job -> {
                List<String> effects = new ArrayList<>();
                server.data()
                        .getCollection(MongoOrderWorker.EFFECTS)
                        .find(new Document("job", job.value()))
                        .forEach(effect -> effects.add(effect.getString("step")));
                return effects;
            });
        }
    }
}
