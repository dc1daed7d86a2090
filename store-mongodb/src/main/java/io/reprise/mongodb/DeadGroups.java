// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.Job;
import io.reprise.JobState;
import io.reprise.store.DeadGroup;
import io.reprise.store.JobQuery;
import io.reprise.store.Page;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** Groups dead letters by the fingerprint of their last error. */
final class DeadGroups {

    private static final String FINGERPRINT = Fields.ERROR + ".fingerprint";
    private static final String JOBS = "jobs";
    private static final String FIRST = "first";
    private static final String LAST = "last";
    private static final String LATEST = "latest";

    private final Mongo mongo;
    private final JobDocs jobDocs;

    DeadGroups(Mongo mongo, JobDocs jobDocs) {
        this.mongo = mongo;
        this.jobDocs = jobDocs;
    }

    /** Groups the dead letters that one page reads. */
    Page<DeadGroup> find(JobQuery query, int limit) {
        JobQuery failed = query.state(JobState.FAILED);
        Document filter = Queries.filter(failed);
        return mongo.list("group dead letters", scope -> {
            long floor = Queries.floor(scope, failed, Queries.places(scope, failed));
            Document bounded = Queries.from(filter, floor);
            List<Document> groups =
                    scope.hasDead() ? both(scope, bounded, limit) : groups(scope.jobs(), bounded, limit);
            return new Page<>(whole(scope, groups, query.isBrief()), Queries.cursor(floor));
        });
    }

    private List<DeadGroup> whole(Scope scope, List<Document> groups, boolean brief) {
        Map<Long, Job> latest = new HashMap<>();
        List<Long> ids = groups.stream().map(DeadGroups::latest).toList();
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
                                new Document(Fields.ID, "$" + FINGERPRINT)
                                        .append(JOBS, new Document("$sum", 1))
                                        .append(FIRST, new Document("$min", "$" + Fields.FINISHED))
                                        .append(LAST, new Document("$max", "$" + Fields.FINISHED))
                                        .append(LATEST, new Document("$max", "$" + Fields.ID))),
                        new Document("$sort", new Document(JOBS, -1)),
                        new Document("$limit", limit))
                .into(new ArrayList<>());
    }

    /**
     * Returns the largest groups of moved dead letters, and every group with dead letters that are not moved
     * yet. The latter are few.
     */
    private static List<Document> both(Scope scope, Document failed, int limit) {
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
                .sorted(Comparator.comparingLong((Document group) -> Fields.numberOr(group, JOBS, 0))
                        .reversed())
                .limit(limit)
                .toList();
    }

    private static Document sum(Document one, Document other) {
        return new Document(Fields.ID, one.get(Fields.ID))
                .append(JOBS, Fields.numberOr(one, JOBS, 0) + Fields.numberOr(other, JOBS, 0))
                .append(FIRST, Math.min(Fields.numberOr(one, FIRST, 0), Fields.numberOr(other, FIRST, 0)))
                .append(LAST, Math.max(Fields.numberOr(one, LAST, 0), Fields.numberOr(other, LAST, 0)))
                .append(LATEST, Math.max(Fields.numberOr(one, LATEST, 0), Fields.numberOr(other, LATEST, 0)));
    }

    private static long latest(Document group) {
        return Fields.numberOr(group, LATEST, 0);
    }

    private static @Nullable String fingerprint(Document group) {
        return Fields.text(group, Fields.ID);
    }

    private static DeadGroup read(Document group, Job latest) {
        return new DeadGroup(
                fingerprint(group),
                Fields.numberOr(group, JOBS, 0),
                Micros.instant(Fields.numberOr(group, FIRST, 0)),
                Micros.instant(Fields.numberOr(group, LAST, 0)),
                latest);
    }
}
