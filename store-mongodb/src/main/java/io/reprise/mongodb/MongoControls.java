// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.job.AuditNote;
import io.reprise.job.QueueState;
import io.reprise.job.WaitReason;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoTime;
import io.reprise.mongodb.docs.VersionedRows;
import io.reprise.store.ControlRow;
import io.reprise.store.Lane;
import io.reprise.store.Unparking;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.bson.Document;
import org.bson.types.ObjectId;

/** Reads and writes control state in the collection {@code controls}, and unparks jobs. */
final class MongoControls {

    private static final String STATE = "state";

    private final Mongo mongo;
    private final VersionedRows versions;

    MongoControls(Mongo mongo) {
        this.mongo = mongo;
        this.versions = new VersionedRows(mongo, MongoScope.CONTROLS);
    }

    List<ControlRow> all() {
        return find(new Document());
    }

    List<ControlRow> named(Collection<String> names) {
        return find(new Document(FieldNames.ID, FieldNames.in(names)));
    }

    List<ControlRow> after(long version) {
        return find(new Document(VersionedRows.VERSION, FieldNames.after(version)));
    }

    private List<ControlRow> find(Document which) {
        return mongo.run("read control state", scope -> {
            List<ControlRow> rows = new ArrayList<>();
            scope.docs(MongoScope.CONTROLS)
                    .find(which)
                    .sort(new Document(FieldNames.ID, 1))
                    .forEach(row -> rows.add(new ControlRow(
                            row.getString(FieldNames.ID),
                            FieldNames.numberOr(row, VersionedRows.VERSION, 0),
                            Objects.requireNonNullElse(FieldNames.text(row, STATE), ""))));
            return rows;
        });
    }

    List<OptionalLong> put(List<ControlRow> rows) {
        Map<Object, Document> states = new LinkedHashMap<>();
        Map<Object, Long> expected = new HashMap<>();
        for (ControlRow row : rows) {
            states.put(row.name(), new Document(STATE, row.state()));
            expected.put(row.name(), row.version());
        }
        VersionedRows.Stored answer = versions.put(states, expected);
        return rows.stream()
                .map(row ->
                        answer.stored().contains(row.name()) ? OptionalLong.of(answer.version()) : OptionalLong.empty())
                .toList();
    }

    OptionalLong put(ControlRow row, String action, AuditNote note) {
        VersionedRows.Deed deed = new VersionedRows.Deed(action, row.name(), note);
        return versions.put(row.name(), row.version(), new Document(STATE, row.state()), deed);
    }

    Set<String> remove(List<ControlRow> rows) {
        return rows.stream()
                .filter(row -> versions.remove(row.name(), row.version()))
                .map(ControlRow::name)
                .collect(Collectors.toSet());
    }

    Map<String, Long> parked() {
        return mongo.list("count parked jobs", scope -> {
            List<String> names = scope.jobs().distinct(FieldNames.PARKED_BY, anyParked());
            int most = QueueState.countable(names.size());
            Map<String, Long> counts = new HashMap<>();
            names.forEach(name -> counts.put(name, scope.jobs().count(new Document(FieldNames.PARKED_BY, name), most)));
            return counts;
        });
    }

    Set<String> parkedBy() {
        return mongo.run(
                "name parked jobs", scope -> new HashSet<>(scope.jobs().distinct(FieldNames.PARKED_BY, anyParked())));
    }

    private static Document anyParked() {
        return new Document(FieldNames.PARKED_BY, new Document("$gte", ""));
    }

    /**
     * Finds the parked jobs of each request, and unparks all of them together. A mark shows
     * which jobs this call changed.
     */
    List<Integer> unpark(List<Unparking> requests) {
        return mongo.run("unpark jobs", scope -> {
            List<String> paused = MongoQueues.paused(scope);
            List<List<Long>> found = new ArrayList<>();
            for (Unparking request : requests) {
                found.add(request.max() == 0 ? List.of() : find(scope, request, paused));
            }
            Set<Long> unparked = new HashSet<>(putBackFound(scope, requests, found, false));
            unparked.addAll(putBackFound(scope, requests, found, true));
            return found.stream()
                    .map(ids -> (int) ids.stream().filter(unparked::remove).count())
                    .toList();
        });
    }

    private static List<Long> find(MongoScope scope, Unparking request, List<String> paused) {
        Instant since = request.since();
        int order = since == null ? 1 : -1;
        Document parked = MongoQueues.notPaused(
                new Document(FieldNames.PARKED_BY, request.name()).append(FieldNames.STATUS, FieldNames.PENDING),
                paused);
        if (since != null) {
            parked.append(FieldNames.DUE, new Document("$gte", MongoTime.of(since)))
                    .append(FieldNames.LANE, FieldNames.lane(Lane.FRESH));
        }
        return MongoQueries.ids(scope.jobs()
                .find(parked)
                .sort(new Document(FieldNames.DUE, order).append(FieldNames.ID, order))
                .limit(request.max()));
    }

    private static List<Long> putBackFound(
            MongoScope scope, List<Unparking> requests, List<List<Long>> found, boolean free) {
        List<Long> fresh = new ArrayList<>();
        List<Long> backlog = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            if (requests.get(i).free() == free) {
                (requests.get(i).since() == null ? backlog : fresh).addAll(found.get(i));
            }
        }
        return putBack(scope, fresh, backlog, free);
    }

    private static List<Long> putBack(MongoScope scope, List<Long> fresh, List<Long> backlog, boolean free) {
        List<Long> all = new ArrayList<>(fresh);
        all.addAll(backlog);
        if (all.isEmpty()) {
            return List.of();
        }
        ObjectId mark = new ObjectId();
        long freed = 0;
        if (!backlog.isEmpty()) {
            // Fresh jobs of a backlog go to the lane of retries.
            Document late = parked(backlog).append(FieldNames.LANE, FieldNames.lane(Lane.FRESH));
            freed += scope.jobs()
                    .updateAll(
                            late,
                            putBack(mark, free, WaitReason.NEW).set(FieldNames.LANE, FieldNames.lane(Lane.RETRY)));
            freed += scope.jobs().updateAll(parked(backlog), putBack(mark, free, WaitReason.RETRY));
        }
        if (!fresh.isEmpty()) {
            freed += scope.jobs().updateAll(parked(fresh), putBack(mark, free, WaitReason.NEW));
        }
        if (freed == all.size()) {
            return all;
        }
        return MongoQueries.ids(scope.jobs().find(JobDocs.byIds(all).append(FieldNames.MARK, mark)));
    }

    private static Document parked(List<Long> ids) {
        return JobDocs.byIds(ids).append(FieldNames.PARKED, true).append(FieldNames.STATUS, FieldNames.PENDING);
    }

    /** Unparks. If nothing holds the jobs any more, they get this wait reason instead of BREAKER. */
    private static Change putBack(ObjectId mark, boolean free, WaitReason reason) {
        Change change = Change.none()
                .set(FieldNames.PARKED, false)
                .remove(FieldNames.PARKED_BY)
                .set(FieldNames.MARK, mark);
        return free ? change.set(FieldNames.WAIT_REASON, reason.name()) : change;
    }
}
