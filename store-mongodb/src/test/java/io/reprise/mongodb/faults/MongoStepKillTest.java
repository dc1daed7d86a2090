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

/**
 * A worker that is killed anywhere repeats no step. The server in memory has no transactions, so there every effect is
 * outside of its step; it has every statement in each run of all tests. A replica set has every fourth one: it has the
 * transactions, and takes longer.
 */
class MongoStepKillTest {

    @TempDir
    Path directory;

    @Test
    void a_killed_worker_repeats_no_step() {
        try (MongoServer server = new MongoServer()) {
            server.assumeReal("transactions");
            kill(server, 4);
        }
    }

    @Test
    void a_killed_worker_repeats_no_step_without_transactions() {
        try (MongoServer server = new MongoServer(null)) {
            kill(server, 1);
        }
    }

    private void kill(MongoServer server, int stride) {
        server.data().createCollection(MongoOrderWorker.EFFECTS);
        MongoJobStore store = MongoJobStore.builder().of(server.client(), server.database());
        KillEverywhere kills = new KillEverywhere(MongoOrderWorker.class, server.url(), directory);
        (MongoOrderWorker.hasTransactions(server.url()) ? kills : kills.withoutTransactions())
                .run(store, stride, job -> {
                    List<String> effects = new ArrayList<>();
                    server.data()
                            .getCollection(MongoOrderWorker.EFFECTS)
                            .find(new Document("job", job.value()))
                            .forEach(effect -> effects.add(effect.getString("step")));
                    return effects;
                });
    }
}
