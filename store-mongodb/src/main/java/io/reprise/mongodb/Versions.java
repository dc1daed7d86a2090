// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.MongoException;
import io.reprise.store.Note;
import java.util.OptionalLong;
import org.bson.Document;

/** Rows that are changed by comparing and setting a version. Versions come from a source that only grows. */
final class Versions {

    static final String VERSION = "version";

    private final Mongo mongo;
    private final String collection;

    Versions(Mongo mongo, String collection) {
        this.mongo = mongo;
        this.collection = collection;
    }

    /** What is done by hand, as the audit log has it. */
    record Deed(String action, String subject, Note note) {}

    /** Ends the transaction, which an insert that met another has ended already. */
    @SuppressWarnings("serial")
    private static final class Beaten extends RuntimeException {}

    OptionalLong put(Object id, long expected, Document fields) {
        return mongo.run("store " + collection, scope -> put(scope, id, expected, fields));
    }

    OptionalLong put(Object id, long expected, Document fields, Deed deed) {
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

    private OptionalLong put(Scope scope, Object id, long expected, Document fields) {
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

    boolean remove(Object id, long version) {
        return mongo.run(
                "remove from " + collection, scope -> scope.docs(collection).delete(row(id, version)));
    }

    boolean remove(Object id, long version, Deed deed) {
        return mongo.atomically("remove from " + collection, scope -> {
            boolean removed = scope.docs(collection).delete(row(id, version));
            if (removed) {
                note(scope, deed);
            }
            return removed;
        });
    }

    private static Document row(Object id, long version) {
        return new Document(Fields.ID, id).append(VERSION, version);
    }

    private static void note(Scope scope, Deed deed) {
        Audit.subject(scope, scope.now(), deed.action, deed.subject, deed.note, null);
    }
}
