// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.MongoException;
import io.reprise.store.ControlRow;
import io.reprise.store.Note;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import org.bson.Document;

/** Shared control state, and the jobs that are parked because of it. */
final class Controls {

    private static final String VERSION = "version";
    private static final String STATE = "state";

    private final Mongo mongo;

    Controls(Mongo mongo) {
        this.mongo = mongo;
    }

    List<ControlRow> all() {
        return mongo.run("read control state", scope -> {
            List<ControlRow> rows = new ArrayList<>();
            scope.docs(Scope.CONTROLS)
                    .find(new Document())
                    .sort(new Document(Fields.ID, 1))
                    .forEach(row -> rows.add(new ControlRow(
                            row.getString(Fields.ID),
                            Fields.numberOr(row, VERSION, 0),
                            Objects.requireNonNullElse(Fields.text(row, STATE), ""))));
            return rows;
        });
    }

    OptionalLong put(ControlRow row) {
        return mongo.run("store control state", scope -> put(scope, row));
    }

    OptionalLong put(ControlRow row, String action, Note note) {
        try {
            return mongo.atomically("store control state", scope -> {
                OptionalLong version = put(scope, row);
                if (version.isPresent()) {
                    Audit.subject(scope, scope.now(), action, row.name(), note, null);
                } else if (scope.isTransaction()) {
                    // An insert that met another has ended the transaction already.
                    throw new Beaten();
                }
                return version;
            });
        } catch (Beaten e) {
            return OptionalLong.empty();
        }
    }

    @SuppressWarnings("serial")
    private static final class Beaten extends RuntimeException {}

    private static OptionalLong put(Scope scope, ControlRow row) {
        long version = scope.next("control", 1);
        Docs controls = scope.docs(Scope.CONTROLS);
        Document known = new Document(Fields.ID, row.name());
        if (row.version() != 0) {
            Change change = Change.none().set(VERSION, version).set(STATE, row.state());
            boolean done = controls.update(known.append(VERSION, row.version()), change);
            return done ? OptionalLong.of(version) : OptionalLong.empty();
        }
        try {
            controls.insert(known.append(VERSION, version).append(STATE, row.state()));
            return OptionalLong.of(version);
        } catch (MongoException e) {
            if (MongoErrors.isDuplicate(e)) {
                return OptionalLong.empty();
            }
            throw e;
        }
    }

    boolean remove(String name, long version) {
        Document row = new Document(Fields.ID, name).append(VERSION, version);
        return mongo.run(
                "remove control state", scope -> scope.docs(Scope.CONTROLS).delete(row));
    }

    Map<String, Long> parked() {
        return mongo.run("count parked jobs", scope -> {
            Map<String, Long> counts = new HashMap<>();
            scope.jobs()
                    .aggregate(
                            new Document("$match", anyParked()),
                            new Document(
                                    "$group",
                                    new Document(Fields.ID, "$" + Fields.PARKED_BY)
                                            .append("jobs", new Document("$sum", 1))))
                    .forEach(group -> counts.put(group.getString(Fields.ID), Fields.numberOr(group, "jobs", 0)));
            return counts;
        });
    }

    Set<String> parkedBy() {
        return mongo.run(
                "name parked jobs", scope -> new HashSet<>(scope.jobs().distinct(Fields.PARKED_BY, anyParked())));
    }

    private static Document anyParked() {
        return new Document(Fields.PARKED_BY, new Document("$gte", ""));
    }

    int unpark(String name, int max) {
        return mongo.run("unpark jobs", scope -> {
            Document parked = new Document(Fields.PARKED_BY, name).append(Fields.STATUS, Fields.PENDING);
            Document running = new Document(parked).append(Fields.QUEUE, new Document("$nin", Queues.paused(scope)));
            List<Long> ids = Queries.ids(scope.jobs()
                    .find(running)
                    .sort(new Document(Fields.DUE, 1).append(Fields.ID, 1))
                    .limit(max));
            if (ids.isEmpty()) {
                return 0;
            }
            Change free = Change.none().set(Fields.PARKED, false).remove(Fields.PARKED_BY);
            return (int) scope.jobs().updateAll(parked.append(Fields.ID, Fields.in(ids)), free);
        });
    }
}
