// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.SpecDocs;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.bson.Document;

/**
 * Stores follow-up jobs. With transactions they are stored in the transaction of the step that they follow.
 *
 * <p>Without transactions, the update that decides the step also writes them into the document of that job, with their
 * future ids. They become jobs right afterwards. If a crash prevents that, the next upkeep does it. Each becomes a job
 * once, however often this is repeated.
 */
final class MongoFollowUps {

    /** Value of {@link FieldNames#OWES}: the follow-up jobs are in {@link FieldNames#FOLLOW_UPS}. */
    private static final String JOBS = "jobs";

    /** Value of {@link FieldNames#OWES}: the job expired, and the rules were not asked yet for its follow-up jobs. */
    private static final String ANSWER = "answer";

    private static final int BATCH = 200;

    private final MongoInserts inserts;
    private final JobDocs jobDocs;

    MongoFollowUps(MongoInserts inserts, JobDocs jobDocs) {
        this.inserts = inserts;
        this.jobDocs = jobDocs;
    }

    /** Adds the follow-up jobs to the change that decides a step, unless there is a transaction. */
    void attach(MongoScope scope, Change change, List<JobSpec> specs) {
        if (specs.isEmpty() || scope.isTransaction()) {
            return;
        }
        inserts.check(specs);
        long id = scope.next("job", specs.size()) - specs.size();
        List<Document> followUps = new ArrayList<>();
        for (JobSpec spec : specs) {
            Document followUp = SpecDocs.write(spec);
            followUp.values().removeIf(Objects::isNull);
            followUps.add(followUp.append(FieldNames.ID, ++id));
        }
        change.pushAll(FieldNames.FOLLOW_UPS, followUps).set(FieldNames.OWES, JOBS);
    }

    /** Stores the follow-up jobs after the step, by job. */
    void follow(MongoScope scope, Map<Long, List<JobSpec>> followUps) {
        List<JobSpec> all = followUps.values().stream().flatMap(List::stream).toList();
        if (all.isEmpty()) {
            return;
        }
        if (scope.isTransaction()) {
            inserts.insert(scope, all);
        } else {
            release(scope, followUps.keySet());
        }
    }

    /** Marks expired jobs that may have follow-up jobs, unless there is a transaction. */
    static void owe(MongoScope scope, Change change) {
        if (!scope.isTransaction()) {
            change.set(FieldNames.OWES, ANSWER);
        }
    }

    /** Stores the follow-up jobs of expired jobs. */
    void followExpired(MongoScope scope, List<Job> expired, Function<Job, List<JobSpec>> rule) {
        Map<Long, List<JobSpec>> followUps = new HashMap<>();
        for (Job job : expired) {
            List<JobSpec> specs = rule.apply(job);
            if (scope.isTransaction() || answer(scope, job.id(), specs)) {
                followUps.put(job.id().value(), specs);
            }
        }
        follow(scope, followUps);
    }

    /** Writes the answer of the rules. Returns false if another caller has written it. */
    private boolean answer(MongoScope scope, JobId id, List<JobSpec> specs) {
        Change change = Change.none().remove(FieldNames.OWES);
        attach(scope, change, specs);
        return scope.jobs().update(JobDocs.byId(id).append(FieldNames.OWES, ANSWER), change);
    }

    /** Stores follow-up jobs that a crash left behind. */
    void tidy(MongoScope scope, Function<Job, List<JobSpec>> rule) {
        Document unanswered = new Document(FieldNames.OWES, ANSWER).append(FieldNames.STATUS, FieldNames.FAILED);
        followExpired(
                scope,
                jobDocs.read(scope.jobs().find(unanswered).limit(BATCH).projection(JobDocs.WITHOUT_HISTORY)),
                rule);
        release(
                scope,
                MongoQueries.ids(
                        scope.jobs().find(new Document(FieldNames.OWES, JOBS)).limit(BATCH)));
    }

    private void release(MongoScope scope, Collection<Long> ids) {
        for (Document job : scope.jobs().list(JobDocs.byIds(List.copyOf(ids)).append(FieldNames.OWES, JOBS))) {
            List<Document> followUps = job.getList(FieldNames.FOLLOW_UPS, Document.class, List.of());
            followUps.forEach(followUp -> become(scope, followUp));
            // Follow-up jobs that were added since stay: the caller that added them, or the next upkeep, stores them.
            Document seen = new Document(FieldNames.ID, JobDocs.idOf(job)).append(FieldNames.FOLLOW_UPS, followUps);
            scope.jobs().update(seen, Change.none().remove(FieldNames.FOLLOW_UPS, FieldNames.OWES));
        }
    }

    private void become(MongoScope scope, Document followUp) {
        JobId id = new JobId(JobDocs.idOf(followUp));
        JobSpec spec = jobDocs.specs().read(followUp).spec();
        MongoInserts.untilNotOvertaken(() -> DeadLetters.find(scope, id, JobDocs.ID_ONLY) == null
                ? inserts.insert(scope, spec, id)
                : List.<Enqueued>of());
    }
}
