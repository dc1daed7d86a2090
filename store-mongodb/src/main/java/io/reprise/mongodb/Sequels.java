// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.store.Inserted;
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
final class Sequels {

    /** Value of {@link Fields#OWES}: the follow-up jobs are in {@link Fields#SEQUELS}. */
    private static final String JOBS = "jobs";

    /** Value of {@link Fields#OWES}: the job expired, and the rules were not asked yet for its follow-up jobs. */
    private static final String ANSWER = "answer";

    private static final int BATCH = 200;

    private final Inserts inserts;
    private final JobDocs jobDocs;

    Sequels(Inserts inserts, JobDocs jobDocs) {
        this.inserts = inserts;
        this.jobDocs = jobDocs;
    }

    /** Adds the follow-up jobs to the change that decides a step, unless there is a transaction. */
    void attach(Scope scope, Change change, List<JobSpec> specs) {
        if (specs.isEmpty() || scope.isTransaction()) {
            return;
        }
        inserts.check(specs);
        long id = scope.next("job", specs.size()) - specs.size();
        List<Document> sequels = new ArrayList<>();
        for (JobSpec spec : specs) {
            Document sequel = SpecDocs.write(spec);
            sequel.values().removeIf(Objects::isNull);
            sequels.add(sequel.append(Fields.ID, ++id));
        }
        change.pushAll(Fields.SEQUELS, sequels).set(Fields.OWES, JOBS);
    }

    /** Stores the follow-up jobs after the step, by job. */
    void follow(Scope scope, Map<Long, List<JobSpec>> sequels) {
        List<JobSpec> all = sequels.values().stream().flatMap(List::stream).toList();
        if (all.isEmpty()) {
            return;
        }
        if (scope.isTransaction()) {
            inserts.insert(scope, all);
        } else {
            release(scope, sequels.keySet());
        }
    }

    /** Marks expired jobs that may have follow-up jobs, unless there is a transaction. */
    static void owe(Scope scope, Change change) {
        if (!scope.isTransaction()) {
            change.set(Fields.OWES, ANSWER);
        }
    }

    /** Stores the follow-up jobs of expired jobs. */
    void followExpired(Scope scope, List<Job> expired, Function<Job, List<JobSpec>> rule) {
        Map<Long, List<JobSpec>> sequels = new HashMap<>();
        for (Job job : expired) {
            List<JobSpec> specs = rule.apply(job);
            if (scope.isTransaction() || answer(scope, job.id(), specs)) {
                sequels.put(job.id().value(), specs);
            }
        }
        follow(scope, sequels);
    }

    /** Writes the answer of the rules. Returns false if another caller has written it. */
    private boolean answer(Scope scope, JobId id, List<JobSpec> specs) {
        Change change = Change.none().remove(Fields.OWES);
        attach(scope, change, specs);
        return scope.jobs().update(JobDocs.byId(id).append(Fields.OWES, ANSWER), change);
    }

    /** Stores follow-up jobs that a crash left behind. */
    void tidy(Scope scope, Function<Job, List<JobSpec>> rule) {
        Document unanswered = new Document(Fields.OWES, ANSWER).append(Fields.STATUS, Fields.FAILED);
        followExpired(
                scope,
                jobDocs.read(scope.jobs().find(unanswered).limit(BATCH).projection(JobDocs.WITHOUT_HISTORY)),
                rule);
        release(
                scope,
                Queries.ids(scope.jobs().find(new Document(Fields.OWES, JOBS)).limit(BATCH)));
    }

    private void release(Scope scope, Collection<Long> ids) {
        for (Document job : scope.jobs().list(JobDocs.byIds(List.copyOf(ids)).append(Fields.OWES, JOBS))) {
            List<Document> sequels = job.getList(Fields.SEQUELS, Document.class, List.of());
            sequels.forEach(sequel -> become(scope, sequel));
            // Follow-up jobs that were added since stay: the caller that added them, or the next upkeep, stores them.
            Document seen = new Document(Fields.ID, JobDocs.idOf(job)).append(Fields.SEQUELS, sequels);
            scope.jobs().update(seen, Change.none().remove(Fields.SEQUELS, Fields.OWES));
        }
    }

    private void become(Scope scope, Document sequel) {
        JobId id = new JobId(JobDocs.idOf(sequel));
        JobSpec spec = jobDocs.specs().read(sequel).spec();
        Inserts.untilNotOvertaken(() -> DeadLetters.find(scope, id, JobDocs.ID_ONLY) == null
                ? inserts.insert(scope, spec, id)
                : List.<Inserted>of());
    }
}
