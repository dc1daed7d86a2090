// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.faults;

import ch.qos.logback.classic.Level;
import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import io.reprise.JobContext;
import io.reprise.mongodb.MongoJobStore;
import io.reprise.mongodb.MongoTransaction;
import io.reprise.store.JobStore;
import io.reprise.testkit.faults.FleetWorker;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.bson.Document;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A worker in a process of its own, on MongoDB, with a client that it shares with its store. */
final class FaultWorker extends FleetWorker {

    private static final int HANDLER_SECONDS = 5;

    private final MongoClient client;
    private final String database;

    private FaultWorker(String[] args) {
        super(args);
        ConnectionString url = new ConnectionString(args[0]);
        // What handlers do with it ends by itself, like the store's own calls.
        this.client = MongoClients.create(MongoClientSettings.builder()
                .applyConnectionString(url)
                .applyToSocketSettings(socket -> socket.readTimeout(HANDLER_SECONDS, TimeUnit.SECONDS))
                .build());
        this.database = Objects.requireNonNull(url.getDatabase());
    }

    public static void main(String[] args) throws InterruptedException {
        ((ch.qos.logback.classic.Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
        new FaultWorker(args).work();
    }

    @Override
    protected JobStore open(String url, Duration timeout) {
        return MongoJobStore.builder().timeout(timeout).of(client, database);
    }

    @Override
    protected void complete(String url, JobContext job) {
        try (ClientSession session = client.startSession()) {
            session.startTransaction();
            client.getDatabase(database)
                    .getCollection(FaultRun.EFFECTS)
                    .insertOne(session, new Document("job", job.id().value()));
            job.complete(MongoTransaction.of(session));
            session.commitTransaction();
        }
    }
}
