// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.MongoException;
import io.reprise.insight.Alert;
import io.reprise.job.WorkerReport;
import io.reprise.job.WorkerState;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.Docs;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoErrors;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.bson.Document;

/** Stores live workers, leaders of roles, and raised alerts. */
final class MongoWorkers {

    private static final String SINCE = "since_us";
    private static final String SEEN = "seen_us";

    private final Mongo mongo;

    MongoWorkers(Mongo mongo) {
        this.mongo = mongo;
    }

    boolean lead(String role, String worker, Duration term) {
        return mongo.run("take a role", scope -> {
            long now = scope.now();
            Document free = new Document(FieldNames.ID, role)
                    .append(
                            "$or",
                            List.of(
                                    new Document(FieldNames.WORKER, worker),
                                    new Document(FieldNames.UNTIL, FieldNames.upTo(now))));
            Change change =
                    Change.none().set(FieldNames.WORKER, worker).set(FieldNames.UNTIL, MongoTime.plus(now, term));
            Docs roles = scope.docs(MongoScope.ROLES);
            return roles.update(free, change)
                    || insert(
                            roles,
                            new Document(FieldNames.ID, role)
                                    .append(FieldNames.WORKER, worker)
                                    .append(FieldNames.UNTIL, MongoTime.plus(now, term)));
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
                scope -> scope.docs(MongoScope.ROLES)
                        .delete(new Document(FieldNames.ID, role).append(FieldNames.WORKER, worker)));
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
                    .set(FieldNames.UNTIL, MongoTime.plus(now, ttl));
            Document worker = new Document(FieldNames.ID, report.name());
            Docs workers = scope.docs(MongoScope.WORKERS);
            if (!workers.update(new Document(worker).append(FieldNames.UNTIL, FieldNames.after(now)), change)) {
                workers.upsert(worker, change.set(SINCE, now));
            }
            return true;
        });
    }

    void checkOut(String worker) {
        mongo.run("check out", scope -> scope.docs(MongoScope.WORKERS).delete(new Document(FieldNames.ID, worker)));
    }

    List<WorkerState> workers() {
        return mongo.run("list workers", scope -> {
            List<WorkerState> workers = new ArrayList<>();
            scope.docs(MongoScope.WORKERS)
                    .find(new Document(FieldNames.UNTIL, FieldNames.after(scope.now())))
                    .sort(new Document(FieldNames.ID, 1))
                    .forEach(row -> workers.add(worker(row)));
            return workers;
        });
    }

    private static WorkerState worker(Document row) {
        return new WorkerState(
                new WorkerReport(
                        row.getString(FieldNames.ID),
                        row.getList("queues", String.class, List.of()),
                        row.getList("types", String.class, List.of()),
                        FieldNames.integer(row, "concurrency"),
                        FieldNames.integer(row, "holding")),
                MongoTime.instant(FieldNames.numberOr(row, SINCE, 0)),
                MongoTime.instant(FieldNames.numberOr(row, SEEN, 0)));
    }

    void forgetTheGone(MongoScope scope, long now) {
        scope.docs(MongoScope.WORKERS).deleteAll(new Document(FieldNames.UNTIL, FieldNames.upTo(now)));
    }

    private static Document id(Alert alert) {
        return new Document("kind", alert.kind().name()).append("type", alert.type());
    }

    boolean raise(Alert alert) {
        return mongo.run(
                "raise an alert",
                scope -> insert(
                        scope.docs(MongoScope.ALERTS),
                        new Document(FieldNames.ID, id(alert))
                                .append("value", alert.value())
                                .append("threshold", alert.threshold())
                                .append(SINCE, MongoTime.of(alert.since()))));
    }

    boolean clear(Alert alert) {
        return mongo.run(
                "clear an alert",
                scope -> scope.docs(MongoScope.ALERTS).delete(new Document(FieldNames.ID, id(alert))));
    }

    List<Alert> alerts() {
        return mongo.run("list alerts", scope -> {
            List<Alert> alerts = new ArrayList<>();
            for (Document row : scope.docs(MongoScope.ALERTS).find(new Document())) {
                Document id = row.get(FieldNames.ID, Document.class);
                Alert.Kind kind = FieldNames.constant(Alert.Kind.class, id.get("kind"), Alert.Kind.RETRY_RATE);
                alerts.add(new Alert(
                        Objects.requireNonNullElse(kind, Alert.Kind.RETRY_RATE),
                        id.getString("type"),
                        FieldNames.real(row, "value"),
                        FieldNames.real(row, "threshold"),
                        MongoTime.instant(FieldNames.numberOr(row, SINCE, 0)),
                        null));
            }
            alerts.sort(
                    Comparator.comparing((Alert alert) -> alert.kind().name()).thenComparing(Alert::type));
            return alerts;
        });
    }
}
