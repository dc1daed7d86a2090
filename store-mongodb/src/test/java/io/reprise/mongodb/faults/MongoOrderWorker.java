// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.faults;

import ch.qos.logback.classic.Level;
import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import io.reprise.JobContext;
import io.reprise.job.JobId;
import io.reprise.mongodb.MongoJobStore;
import io.reprise.mongodb.MongoTransaction;
import io.reprise.step.Step;
import io.reprise.store.JobStore;
import io.reprise.testkit.steps.OrderWorker;
import java.util.Objects;
import org.bson.Document;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs orders on MongoDB. Each command counts as a statement. */
public final class MongoOrderWorker extends OrderWorker {

    static final String EFFECTS = "effects";

    private final MongoClient client;
    private final String database;

    private MongoOrderWorker(String url) {
        ConnectionString server = new ConnectionString(url);
        this.database = Objects.requireNonNull(server.getDatabase());
        this.client = MongoClients.create(MongoClientSettings.builder()
                .applyConnectionString(server)
                .addCommandListener(new CommandListener() {
                    @Override
                    public void commandStarted(CommandStartedEvent event) {
                        beforeStatement();
                    }
                })
                .build());
    }

    public static void main(String[] args) throws InterruptedException {
        ((ch.qos.logback.classic.Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
        new MongoOrderWorker(args[0]).work(args);
    }

    @Override
    protected JobStore open(String url) {
        return MongoJobStore.builder().of(client, database);
    }

    /** A single server has none. */
    static boolean hasTransactions(String url) {
        return new ConnectionString(url).getRequiredReplicaSetName() != null;
    }

    private MongoCollection<Document> effects() {
        return client.getDatabase(database).getCollection(EFFECTS);
    }

    private static Document effect(JobId job, String step) {
        return new Document("job", job.value()).append("step", step);
    }

    @Override
    protected void outside(String url, JobId job, String step) {
        effects().insertOne(effect(job, step));
    }

    @Override
    protected String inside(String url, JobContext job, String step) {
        if (!hasTransactions(url)) {
            return job.step(Step.of(step, String.class), () -> {
                outside(url, job.id(), step);
                return step.substring(1);
            });
        }
        try (ClientSession session = client.startSession()) {
            session.startTransaction();
            String result = job.step(Step.of(step, String.class), MongoTransaction.of(session), () -> {
                effects().insertOne(session, effect(job.id(), step));
                return step.substring(1);
            });
            session.commitTransaction();
            return result;
        }
    }
}
