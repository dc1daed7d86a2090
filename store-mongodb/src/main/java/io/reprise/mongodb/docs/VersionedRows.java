// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoException;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.WriteModel;
import io.reprise.job.AuditNote;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.bson.Document;

/** Changes rows by comparing and setting a version. Versions come from a counter that only grows. */
public final class VersionedRows {

    public static final String VERSION = "version";

    /** The last versions of a row, including the present one. */
    private static final String PAST = "past";

    private static final int PAST_KEPT = 20;

    private final Mongo mongo;
    private final String collection;

    public VersionedRows(Mongo mongo, String collection) {
        this.mongo = mongo;
        this.collection = collection;
    }

    /** An action by a person, for the audit log. */
    public record Deed(String action, String subject, AuditNote note) {}

    /** Ends the transaction, which the server has already aborted because of the failed insert. */
    @SuppressWarnings("serial")
    private static final class Beaten extends RuntimeException {}

    public OptionalLong put(Object id, long expected, Document fields) {
        return mongo.run("store " + collection, scope -> put(scope, id, expected, fields));
    }

    public OptionalLong put(Object id, long expected, Document fields, Deed deed) {
        try {
            return mongo.atomically("store " + collection, scope -> {
                OptionalLong version = put(scope, id, expected, fields);
                if (version.isPresent()) {
                    note(scope, deed);
                } else if (scope.isTransaction()) {
                    throw new Beaten();
                }
                return version;
            });
        } catch (Beaten e) {
            return OptionalLong.empty();
        }
    }

    /**
     * The result for many rows.
     *
     * @param version version of the rows that were stored
     * @param stored ids of those rows
     */
    public record Stored(long version, Set<Object> stored) {}

    /**
     * Stores many rows, each on its own.
     *
     * @param expected the version of each id; 0 if there must be no such row
     */
    public Stored put(Map<Object, Document> rows, Map<Object, Long> expected) {
        return mongo.run("store " + collection, scope -> {
            long version = scope.next(collection, 1);
            List<WriteModel<Document>> models = new ArrayList<>();
            rows.forEach((id, fields) -> {
                long before = expected.getOrDefault(id, 0L);
                if (before == 0) {
                    Document row = row(id, version).append(PAST, List.of(version));
                    row.putAll(fields);
                    models.add(new InsertOneModel<>(row));
                } else {
                    Change change =
                            Change.none().setAll(fields).set(VERSION, version).push(PAST, version, PAST_KEPT);
                    models.add(new UpdateOneModel<>(row(id, before), change.build()));
                }
            });
            int written = write(scope, models);
            return new Stored(
                    version, written == models.size() ? rows.keySet() : stored(scope, rows.keySet(), version));
        });
    }

    private int write(MongoScope scope, List<WriteModel<Document>> models) {
        try {
            BulkWriteResult result = scope.docs(collection).bulk(models);
            return result.getInsertedCount() + result.getMatchedCount();
        } catch (MongoBulkWriteException e) {
            // The other rows were written.
            if (MongoErrors.isDuplicate(e)) {
                return -1;
            }
            throw e;
        }
    }

    /**
     * Finds the rows that this call stored. Another writer may have changed a row since, so the list of its
     * last versions is searched.
     */
    private Set<Object> stored(MongoScope scope, Set<Object> ids, long version) {
        Set<Object> stored = new HashSet<>();
        scope.docs(collection)
                .find(new Document(FieldNames.ID, FieldNames.in(ids)).append(PAST, version))
                .projection(new Document(FieldNames.ID, 1))
                .forEach(row -> stored.add(row.get(FieldNames.ID)));
        return stored;
    }

    private OptionalLong put(MongoScope scope, Object id, long expected, Document fields) {
        long version = scope.next(collection, 1);
        Docs docs = scope.docs(collection);
        if (expected != 0) {
            Change change = Change.none().setAll(fields).set(VERSION, version);
            return docs.update(row(id, expected), change) ? OptionalLong.of(version) : OptionalLong.empty();
        }
        try {
            Document row = row(id, version);
            row.putAll(fields);
            docs.insert(row);
            return OptionalLong.of(version);
        } catch (MongoException e) {
            if (MongoErrors.isDuplicate(e)) {
                return OptionalLong.empty();
            }
            throw e;
        }
    }

    public boolean remove(Object id, long version) {
        return mongo.run(
                "remove from " + collection, scope -> scope.docs(collection).delete(row(id, version)));
    }

    public boolean remove(Object id, long version, Deed deed) {
        return mongo.atomically("remove from " + collection, scope -> {
            boolean removed = scope.docs(collection).delete(row(id, version));
            if (removed) {
                note(scope, deed);
            }
            return removed;
        });
    }

    private static Document row(Object id, long version) {
        return new Document(FieldNames.ID, id).append(VERSION, version);
    }

    private static void note(MongoScope scope, Deed deed) {
        MongoAudit.subject(scope, scope.now(), deed.action, deed.subject, deed.note, deed.note.detail());
    }
}
