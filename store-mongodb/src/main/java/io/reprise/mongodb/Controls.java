// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

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

    private static final String STATE = "state";

    private final Mongo mongo;
    private final Versions versions;

    Controls(Mongo mongo) {
        this.mongo = mongo;
        this.versions = new Versions(mongo, Scope.CONTROLS);
    }

    List<ControlRow> all() {
        return mongo.run("read control state", scope -> {
            List<ControlRow> rows = new ArrayList<>();
            scope.docs(Scope.CONTROLS)
                    .find(new Document())
                    .sort(new Document(Fields.ID, 1))
                    .forEach(row -> rows.add(new ControlRow(
                            row.getString(Fields.ID),
                            Fields.numberOr(row, Versions.VERSION, 0),
                            Objects.requireNonNullElse(Fields.text(row, STATE), ""))));
            return rows;
        });
    }

    OptionalLong put(ControlRow row) {
        return versions.put(row.name(), row.version(), new Document(STATE, row.state()));
    }

    OptionalLong put(ControlRow row, String action, Note note) {
        Versions.Deed deed = new Versions.Deed(action, row.name(), note);
        return versions.put(row.name(), row.version(), new Document(STATE, row.state()), deed);
    }

    boolean remove(String name, long version) {
        return versions.remove(name, version);
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
