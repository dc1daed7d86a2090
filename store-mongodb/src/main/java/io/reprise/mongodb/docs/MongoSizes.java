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
 * Adds up the lengths of payloads, results, steps and log lines, part by part in the order of ids: first the jobs,
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
        Docs docs = jobs ? scope.jobs() : scope.dead();
        Map<String, Long> bytes = new HashMap<>();
        long counted = 0;
        long last = after;
        for (Document part : parts(docs, after, rows)) {
            bytes.put(String.valueOf(FieldNames.text(part, FieldNames.ID)), FieldNames.numberOr(part, BYTES, 0));
            counted += FieldNames.numberOr(part, ROWS, 0);
            last = Math.max(last, FieldNames.numberOr(part, LAST, 0));
        }
        addLogs(scope, queues(docs, after, last), bytes);
        String next = counted == rows
                ? (jobs ? JOBS_AFTER : DEAD_AFTER) + last
                : jobs && scope.hasDead() ? DEAD_AFTER + 0 : null;
        return new StoredBytes(bytes, next);
    }

    /** Returns the queues of the jobs of a part, by id. */
    private static Map<Long, String> queues(Docs docs, long after, long last) {
        Map<Long, String> queues = new HashMap<>();
        docs.find(new Document(FieldNames.ID, FieldNames.after(after).append("$lte", last)))
                .projection(new Document(FieldNames.QUEUE, 1))
                .forEach(job -> queues.put(JobDocs.idOf(job), String.valueOf(FieldNames.text(job, FieldNames.QUEUE))));
        return queues;
    }

    private static void addLogs(MongoScope scope, Map<Long, String> queues, Map<String, Long> bytes) {
        scope.docs(MongoScope.LOGS)
                .aggregate(
                        new Document(
                                "$match", new Document(MongoLogs.JOB, FieldNames.in(List.copyOf(queues.keySet())))),
                        new Document(
                                "$group",
                                new Document(FieldNames.ID, "$" + MongoLogs.JOB)
                                        .append(BYTES, new Document("$sum", length(MongoLogs.BODY)))))
                .forEach(log -> bytes.merge(
                        queues.getOrDefault(JobDocs.idOf(log), ""), FieldNames.numberOr(log, BYTES, 0), Long::sum));
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
