// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import java.util.List;
import java.util.Objects;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** The collections, by their names without prefix: all in one transaction, or all without. */
final class Scope {

    static final String JOBS = "jobs";
    static final String COUNTERS = "counters";
    static final String QUEUES = "queues";
    static final String SCHEDULES = "schedules";
    static final String CONTROLS = "controls";
    static final String DOCUMENTS = "documents";
    static final String ROLES = "roles";
    static final String AUDIT = "audit";
    static final String WORKERS = "workers";
    static final String ALERTS = "alerts";
    static final String EVIDENCE = "evidence";
    static final String SPENDING = "spending";
    static final String ACTIVITY = "activity";
    static final String SETTINGS = "settings";

    static final List<String> ALL = List.of(
            JOBS, COUNTERS, QUEUES, SCHEDULES, CONTROLS, DOCUMENTS, ROLES, AUDIT, WORKERS, ALERTS, EVIDENCE, SPENDING,
            ACTIVITY, SETTINGS);

    private final Mongo mongo;
    private final MongoDatabase database;
    private final @Nullable ClientSession session;

    Scope(Mongo mongo, MongoDatabase database, @Nullable ClientSession session) {
        this.mongo = mongo;
        this.database = database;
        this.session = session;
    }

    boolean isTransaction() {
        return session != null;
    }

    /** The clock is outside every transaction. */
    long now() {
        return mongo.now();
    }

    /** Numbers are taken outside every transaction: a rollback leaves a gap and blocks nobody. */
    long next(String counter, int amount) {
        return mongo.next(counter, amount);
    }

    Docs jobs() {
        return docs(JOBS);
    }

    /** Whether dead letters have a collection of their own. */
    boolean hasDead() {
        return mongo.movesDeadLetters();
    }

    /** Returns the collection of moved dead letters. */
    Docs dead() {
        String collection = Objects.requireNonNull(mongo.deadLetters(), "dead letters are not moved");
        return new Docs(database.getCollection(collection), session);
    }

    Docs docs(String collection) {
        return new Docs(collection(collection), session);
    }

    MongoCollection<Document> collection(String collection) {
        return database.getCollection(mongo.name(collection));
    }
}
