// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.MongoException;
import io.reprise.Alert;
import io.reprise.store.WorkerReport;
import io.reprise.store.WorkerState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.bson.Document;

/** Stores live workers, leaders of roles, and raised alerts. */
final class Presence {

    private static final String SINCE = "since_us";
    private static final String SEEN = "seen_us";

    private final Mongo mongo;

    Presence(Mongo mongo) {
        this.mongo = mongo;
    }

    boolean lead(String role, String worker, Duration term) {
        return mongo.run("take a role", scope -> {
            long now = scope.now();
            Document free = new Document(Fields.ID, role)
                    .append(
                            "$or",
                            List.of(new Document(Fields.WORKER, worker), new Document(Fields.UNTIL, Fields.upTo(now))));
            Change change = Change.none().set(Fields.WORKER, worker).set(Fields.UNTIL, Micros.plus(now, term));
            Docs roles = scope.docs(Scope.ROLES);
            return roles.update(free, change)
                    || insert(
                            roles,
                            new Document(Fields.ID, role)
                                    .append(Fields.WORKER, worker)
                                    .append(Fields.UNTIL, Micros.plus(now, term)));
        });
    }

    /** Returns false if a document with this id exists. */
    private static boolean insert(Docs docs, Document document) {
        try {
            docs.insert(document);
            return true;
        } catch (MongoException e) {
            if (MongoErrors.isDuplicate(e)) {
                return false;
            }
            throw e;
        }
    }

    void resign(String role, String worker) {
        mongo.run(
                "resign a role",
                scope -> scope.docs(Scope.ROLES).delete(new Document(Fields.ID, role).append(Fields.WORKER, worker)));
    }

    void checkIn(WorkerReport report, Duration ttl) {
        mongo.run("check in", scope -> {
            long now = scope.now();
            Change change = Change.none()
                    .set("queues", report.queues())
                    .set("types", report.types())
                    .set("concurrency", report.concurrency())
                    .set("holding", report.holding())
                    .set(SEEN, now)
                    .set(Fields.UNTIL, Micros.plus(now, ttl));
            Document worker = new Document(Fields.ID, report.name());
            Docs workers = scope.docs(Scope.WORKERS);
            if (!workers.update(new Document(worker).append(Fields.UNTIL, Fields.after(now)), change)) {
                workers.upsert(worker, change.set(SINCE, now));
            }
            return true;
        });
    }

    void checkOut(String worker) {
        mongo.run("check out", scope -> scope.docs(Scope.WORKERS).delete(new Document(Fields.ID, worker)));
    }

    List<WorkerState> workers() {
        return mongo.run("list workers", scope -> {
            List<WorkerState> workers = new ArrayList<>();
            scope.docs(Scope.WORKERS)
                    .find(new Document(Fields.UNTIL, Fields.after(scope.now())))
                    .sort(new Document(Fields.ID, 1))
                    .forEach(row -> workers.add(worker(row)));
            return workers;
        });
    }

    private static WorkerState worker(Document row) {
        return new WorkerState(
                new WorkerReport(
                        row.getString(Fields.ID),
                        row.getList("queues", String.class, List.of()),
                        row.getList("types", String.class, List.of()),
                        Fields.integer(row, "concurrency"),
                        Fields.integer(row, "holding")),
                Micros.instant(Fields.numberOr(row, SINCE, 0)),
                Micros.instant(Fields.numberOr(row, SEEN, 0)));
    }

    void forgetTheGone(Scope scope, long now) {
        scope.docs(Scope.WORKERS).deleteAll(new Document(Fields.UNTIL, Fields.upTo(now)));
    }

    private static Document id(Alert alert) {
        return new Document("kind", alert.kind().name()).append("type", alert.type());
    }

    boolean raise(Alert alert) {
        return mongo.run(
                "raise an alert",
                scope -> insert(
                        scope.docs(Scope.ALERTS),
                        new Document(Fields.ID, id(alert))
                                .append("value", alert.value())
                                .append("threshold", alert.threshold())
                                .append(SINCE, Micros.of(alert.since()))));
    }

    boolean clear(Alert alert) {
        return mongo.run(
                "clear an alert", scope -> scope.docs(Scope.ALERTS).delete(new Document(Fields.ID, id(alert))));
    }

    List<Alert> alerts() {
        return mongo.run("list alerts", scope -> {
            List<Alert> alerts = new ArrayList<>();
            for (Document row : scope.docs(Scope.ALERTS).find(new Document())) {
                Document id = row.get(Fields.ID, Document.class);
                Alert.Kind kind = Fields.constant(Alert.Kind.class, id.get("kind"), Alert.Kind.RETRY_RATE);
                alerts.add(new Alert(
                        Objects.requireNonNullElse(kind, Alert.Kind.RETRY_RATE),
                        id.getString("type"),
                        Fields.real(row, "value"),
                        Fields.real(row, "threshold"),
                        Micros.instant(Fields.numberOr(row, SINCE, 0)),
                        null));
            }
            alerts.sort(
                    Comparator.comparing((Alert alert) -> alert.kind().name()).thenComparing(Alert::type));
            return alerts;
        });
    }
}
