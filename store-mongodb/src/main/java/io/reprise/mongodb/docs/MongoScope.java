// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import java.util.List;
import java.util.Objects;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** The collections, by their names without prefix: all in one transaction, or all without. */
public final class MongoScope {

    public static final String JOBS = "jobs";
    static final String COUNTERS = "counters";
    public static final String QUEUES = "queues";
    public static final String SCHEDULES = "schedules";
    public static final String CONTROLS = "controls";
    public static final String DOCUMENTS = "documents";
    public static final String ROLES = "roles";
    public static final String AUDIT = "audit";
    public static final String WORKERS = "workers";
    public static final String ALERTS = "alerts";
    public static final String EVIDENCE = "evidence";
    public static final String SPENDING = "spending";
    public static final String ACTIVITY = "activity";
    public static final String SETTINGS = "settings";
    public static final String CONTROL_EVENTS = "control_events";
    public static final String RATES = "rates";
    public static final String BATCHES = "batches";
    public static final String MEMBERS = "members";
    public static final String LOGS = "logs";

    public static final List<String> ALL = List.of(
            JOBS,
            COUNTERS,
            QUEUES,
            SCHEDULES,
            CONTROLS,
            DOCUMENTS,
            ROLES,
            AUDIT,
            WORKERS,
            ALERTS,
            EVIDENCE,
            SPENDING,
            ACTIVITY,
            SETTINGS,
            CONTROL_EVENTS,
            RATES,
            BATCHES,
            MEMBERS,
            LOGS);

    private final Mongo mongo;
    private final MongoDatabase database;
    private final @Nullable ClientSession session;

    MongoScope(Mongo mongo, MongoDatabase database, @Nullable ClientSession session) {
        this.mongo = mongo;
        this.database = database;
        this.session = session;
    }

    public boolean isTransaction() {
        return session != null;
    }

    /** The clock is outside every transaction. */
    public long now() {
        return mongo.now();
    }

    /** Numbers are taken outside every transaction: a rollback leaves a gap and blocks nobody. */
    public long next(String counter, int amount) {
        return mongo.next(counter, amount);
    }

    public Docs jobs() {
        return docs(JOBS);
    }

    /** Whether dead letters have a collection of their own. */
    public boolean hasDead() {
        return mongo.movesDeadLetters();
    }

    /** Returns the collection of moved dead letters. */
    public Docs dead() {
        String collection = Objects.requireNonNull(mongo.deadLetters(), "dead letters are not moved");
        return new Docs(database.getCollection(collection), session);
    }

    public Docs docs(String collection) {
        return new Docs(collection(collection), session);
    }

    MongoCollection<Document> collection(String collection) {
        return database.getCollection(mongo.name(collection));
    }
}
