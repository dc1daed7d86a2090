// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.faults;

import io.reprise.mongodb.MongoJobStore;
import io.reprise.mongodb.MongoServer;
import io.reprise.mongodb.MongoStoreBuilder;
import io.reprise.testkit.faults.FaultFleet;
import io.reprise.testkit.faults.Tempo;
import io.reprise.testkit.faults.Work;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.bson.Document;

/** A fleet on MongoDB. */
final class FaultRun extends FaultFleet {

    static final String EFFECTS = "effects";

    private final MongoServer server;

    FaultRun(Path directory, MongoServer server) {
        this(directory, server, MongoJobStore.builder());
    }

    FaultRun(Path directory, MongoServer server, Tempo tempo) {
        this(directory, server, MongoJobStore.builder(), tempo);
    }

    /** With settings for the client; workers learn from the database where dead letters are. */
    FaultRun(Path directory, MongoServer server, MongoStoreBuilder settings) {
        this(directory, server, settings, tempo(server));
    }

    private FaultRun(Path directory, MongoServer server, MongoStoreBuilder settings, Tempo tempo) {
        super(
                directory,
                server.url(),
                FaultWorker.class,
                settings.timeout(tempo.call()).open(server.url()),
                tempo);
        this.server = server;
        server.data().createCollection(EFFECTS);
    }

    private static Tempo tempo(MongoServer server) {
        return server.isReal() ? Tempo.SLOW : Tempo.BRISK;
    }

    /** Enqueues from now on what this server can do. */
    void startLoad() {
        if (server.isReal()) {
            load().start();
        } else {
            load().start(Work::mixtureWithoutTransactions);
        }
    }

    @Override
    protected List<Long> effects() {
        List<Long> jobs = new ArrayList<>();
        server.data()
                .getCollection(EFFECTS)
                .find()
                .sort(new Document("job", 1))
                .forEach(effect -> jobs.add(effect.getLong("job")));
        return jobs;
    }
}
