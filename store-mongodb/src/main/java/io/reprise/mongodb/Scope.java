// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoDatabase;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The collections, all in the same transaction or all without one. */
final class Scope {

    static final String JOBS = "reprise_jobs";
    static final String COUNTERS = "reprise_counters";
    static final String QUEUES = "reprise_queues";
    static final String SCHEDULES = "reprise_schedules";
    static final String CONTROLS = "reprise_controls";
    static final String DOCUMENTS = "reprise_documents";
    static final String ROLES = "reprise_roles";
    static final String AUDIT = "reprise_audit";
    static final String WORKERS = "reprise_workers";
    static final String ALERTS = "reprise_alerts";
    static final String EVIDENCE = "reprise_evidence";
    static final String SPENDING = "reprise_spending";
    static final String ACTIVITY = "reprise_activity";

    static final List<String> ALL = List.of(
            JOBS, COUNTERS, QUEUES, SCHEDULES, CONTROLS, DOCUMENTS, ROLES, AUDIT, WORKERS, ALERTS, EVIDENCE, SPENDING,
            ACTIVITY);

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

    /** Numbers are taken outside every transaction: one that is rolled back leaves a gap and holds up nobody. */
    long next(String counter, int amount) {
        return mongo.next(counter, amount);
    }

    Docs jobs() {
        return docs(JOBS);
    }

    Docs docs(String collection) {
        return new Docs(database.getCollection(collection), session);
    }
}
