// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.job.AuditNote;
import io.reprise.job.Page;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.VersionedRows;
import io.reprise.store.Document;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes the collection {@code documents}. MongoDB compares texts by their UTF-8 bytes, which is
 * the order of code points.
 */
final class MongoDocuments {

    private static final String KIND = "kind";
    private static final String NAME = "name";
    private static final String JSON = "json";

    private final Mongo mongo;
    private final VersionedRows versions;

    MongoDocuments(Mongo mongo) {
        this.mongo = mongo;
        this.versions = new VersionedRows(mongo, MongoScope.DOCUMENTS);
    }

    private static org.bson.Document id(String kind, String name) {
        return new org.bson.Document(KIND, kind).append(NAME, name);
    }

    private static org.bson.Document fields(Document document) {
        return id(document.kind(), document.id()).append(JSON, document.json());
    }

    Optional<Document> find(String kind, String name) {
        return mongo.run(
                "read a document",
                scope -> Optional.ofNullable(scope.docs(MongoScope.DOCUMENTS)
                                .first(new org.bson.Document(FieldNames.ID, id(kind, name))))
                        .map(MongoDocuments::read));
    }

    private static Document read(org.bson.Document row) {
        return new Document(
                row.getString(KIND),
                row.getString(NAME),
                FieldNames.numberOr(row, VersionedRows.VERSION, 0),
                Objects.requireNonNullElse(FieldNames.text(row, JSON), ""));
    }

    Page<Document> page(String kind, int limit, @Nullable String after) {
        org.bson.Document filter = new org.bson.Document(KIND, kind);
        if (after != null) {
            filter.append(NAME, new org.bson.Document("$gt", after));
        }
        return mongo.run("list documents", scope -> {
            List<Document> found = new ArrayList<>();
            scope.docs(MongoScope.DOCUMENTS)
                    .find(filter)
                    .sort(new org.bson.Document(NAME, 1))
                    .limit(limit + 1)
                    .forEach(row -> found.add(read(row)));
            if (found.size() <= limit) {
                return new Page<>(found, null);
            }
            List<Document> page = found.subList(0, limit);
            return new Page<>(page, page.get(limit - 1).id());
        });
    }

    OptionalLong put(Document document) {
        return versions.put(id(document.kind(), document.id()), document.version(), fields(document));
    }

    OptionalLong put(Document document, String action, AuditNote note) {
        return versions.put(
                id(document.kind(), document.id()), document.version(), fields(document), deed(document, action, note));
    }

    boolean remove(Document document) {
        return versions.remove(id(document.kind(), document.id()), document.version());
    }

    boolean remove(Document document, String action, AuditNote note) {
        return versions.remove(id(document.kind(), document.id()), document.version(), deed(document, action, note));
    }

    private static VersionedRows.Deed deed(Document document, String action, AuditNote note) {
        return new VersionedRows.Deed(action, document.subject(), note);
    }
}
