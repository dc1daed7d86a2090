// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import io.reprise.insight.StoredBytes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Adds up the lengths of payloads, results and steps, part by part in the order of ids: first the jobs,
 * then moved dead letters.
 */
public final class MongoSizes {

    private static final String BYTES = "bytes";
    private static final String LAST = "last";
    private static final String ROWS = "rows";
    private static final String JOBS_AFTER = "jobs-";
    private static final String DEAD_AFTER = "dead-";

    private MongoSizes() {}

    public static StoredBytes read(MongoScope scope, @Nullable String cursor, int rows) {
        String from = cursor == null ? JOBS_AFTER + 0 : cursor;
        boolean jobs = from.startsWith(JOBS_AFTER);
        long after = Long.parseLong(from.substring(from.indexOf('-') + 1));
        List<Document> parts = parts(jobs ? scope.jobs() : scope.dead(), after, rows);
        Map<String, Long> bytes = new HashMap<>();
        long counted = 0;
        long last = after;
        for (Document part : parts) {
            bytes.put(String.valueOf(FieldNames.text(part, FieldNames.ID)), FieldNames.numberOr(part, BYTES, 0));
            counted += FieldNames.numberOr(part, ROWS, 0);
            last = Math.max(last, FieldNames.numberOr(part, LAST, 0));
        }
        String next = counted == rows
                ? (jobs ? JOBS_AFTER : DEAD_AFTER) + last
                : jobs && scope.hasDead() ? DEAD_AFTER + 0 : null;
        return new StoredBytes(bytes, next);
    }

    private static List<Document> parts(Docs docs, long after, int rows) {
        Document length = new Document(
                "$add",
                List.of(
                        new Document("$ifNull", List.of("$" + SpecDocs.PAYLOAD_BYTES, 0)),
                        length(SpecDocs.CHAIN),
                        length(FieldNames.RESULT),
                        steps()));
        return docs.aggregate(
                        new Document("$match", new Document(FieldNames.ID, FieldNames.after(after))),
                        new Document("$sort", new Document(FieldNames.ID, 1)),
                        new Document("$limit", rows),
                        new Document(
                                "$group",
                                new Document(FieldNames.ID, "$" + FieldNames.QUEUE)
                                        .append(BYTES, new Document("$sum", length))
                                        .append(LAST, new Document("$max", "$" + FieldNames.ID))
                                        .append(ROWS, new Document("$sum", 1))))
                .into(new ArrayList<>());
    }

    private static Document length(String field) {
        return new Document("$strLenBytes", new Document("$ifNull", List.of("$" + field, "")));
    }

    private static Document steps() {
        Document each = new Document("input", new Document("$ifNull", List.of("$" + FieldNames.STEPS, List.of())))
                .append("as", "step")
                .append("in", length("$step.value"));
        return new Document("$sum", new Document("$map", each));
    }
}
