// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.insight.DeadGroup;
import io.reprise.job.Job;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.Page;
import io.reprise.mongodb.docs.Docs;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoTime;
import io.reprise.mongodb.docs.SpecDocs;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** Groups dead letters by the fingerprint of their last error. */
final class MongoDeadGroups {

    private static final String FINGERPRINT = FieldNames.ERROR + ".fingerprint";
    private static final String JOBS = "jobs";
    private static final String FIRST = "first";
    private static final String LAST = "last";
    private static final String LATEST = "latest";

    private final Mongo mongo;
    private final JobDocs jobDocs;

    MongoDeadGroups(Mongo mongo, JobDocs jobDocs) {
        this.mongo = mongo;
        this.jobDocs = jobDocs;
    }

    /** Groups the dead letters that one page reads. */
    Page<DeadGroup> find(JobQuery query, int limit) {
        JobQuery failed = query.state(JobState.FAILED);
        Document filter = MongoQueries.filter(failed);
        return mongo.list("group dead letters", scope -> {
            long floor = MongoQueries.floor(scope, failed, MongoQueries.places(scope, failed));
            Document bounded = MongoQueries.from(filter, floor);
            List<Document> groups =
                    scope.hasDead() ? both(scope, bounded, limit) : groups(scope.jobs(), bounded, limit);
            return new Page<>(whole(scope, groups, query.isBrief()), MongoQueries.cursor(floor));
        });
    }

    private List<DeadGroup> whole(MongoScope scope, List<Document> groups, boolean brief) {
        Map<Long, Job> latest = new HashMap<>();
        List<Long> ids = groups.stream().map(MongoDeadGroups::latest).toList();
        DeadLetters.findAll(scope, ids, brief ? JobDocs.BRIEF : JobDocs.WITHOUT_HISTORY)
                .forEach(job -> latest.put(JobDocs.idOf(job), read(job, brief)));
        List<DeadGroup> found = new ArrayList<>();
        for (Document group : groups) {
            Job job = latest.get(latest(group));
            if (job != null) {
                found.add(read(group, job));
            }
        }
        return found;
    }

    private Job read(Document document, boolean brief) {
        if (brief) {
            SpecDocs.withoutPayload(document);
        }
        return jobDocs.read(document);
    }

    private static List<Document> groups(Docs docs, Document filter, int limit) {
        return docs.aggregate(
                        new Document("$match", filter),
                        new Document(
                                "$group",
                                new Document(FieldNames.ID, "$" + FINGERPRINT)
                                        .append(JOBS, new Document("$sum", 1))
                                        .append(FIRST, new Document("$min", "$" + FieldNames.FINISHED))
                                        .append(LAST, new Document("$max", "$" + FieldNames.FINISHED))
                                        .append(LATEST, new Document("$max", "$" + FieldNames.ID))),
                        new Document("$sort", new Document(JOBS, -1)),
                        new Document("$limit", limit))
                .into(new ArrayList<>());
    }

    /**
     * Returns the largest groups of moved dead letters, and every group with dead letters that are not moved
     * yet. The latter are few.
     */
    private static List<Document> both(MongoScope scope, Document failed, int limit) {
        Document moved = DeadLetters.countedOnly(scope, failed);
        List<Document> unmoved = groups(scope.jobs(), failed, Integer.MAX_VALUE);
        Map<@Nullable String, Document> groups = new LinkedHashMap<>();
        groups(scope.dead(), moved, limit).forEach(group -> groups.put(fingerprint(group), group));
        for (Document group : unmoved) {
            Document same = new Document("$and", List.of(moved, new Document(FINGERPRINT, fingerprint(group))));
            List<Document> rest = groups(scope.dead(), same, 1);
            groups.put(fingerprint(group), rest.isEmpty() ? group : sum(group, rest.get(0)));
        }
        return groups.values().stream()
                .sorted(Comparator.comparingLong((Document group) -> FieldNames.numberOr(group, JOBS, 0))
                        .reversed())
                .limit(limit)
                .toList();
    }

    private static Document sum(Document one, Document other) {
        return new Document(FieldNames.ID, one.get(FieldNames.ID))
                .append(JOBS, FieldNames.numberOr(one, JOBS, 0) + FieldNames.numberOr(other, JOBS, 0))
                .append(FIRST, Math.min(FieldNames.numberOr(one, FIRST, 0), FieldNames.numberOr(other, FIRST, 0)))
                .append(LAST, Math.max(FieldNames.numberOr(one, LAST, 0), FieldNames.numberOr(other, LAST, 0)))
                .append(LATEST, Math.max(FieldNames.numberOr(one, LATEST, 0), FieldNames.numberOr(other, LATEST, 0)));
    }

    private static long latest(Document group) {
        return FieldNames.numberOr(group, LATEST, 0);
    }

    private static @Nullable String fingerprint(Document group) {
        return FieldNames.text(group, FieldNames.ID);
    }

    private static DeadGroup read(Document group, Job latest) {
        return new DeadGroup(
                fingerprint(group),
                FieldNames.numberOr(group, JOBS, 0),
                MongoTime.instant(FieldNames.numberOr(group, FIRST, 0)),
                MongoTime.instant(FieldNames.numberOr(group, LAST, 0)),
                latest);
    }
}
