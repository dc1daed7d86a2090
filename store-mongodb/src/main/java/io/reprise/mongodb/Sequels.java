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
 * Jobs that follow others. Where there are transactions they are stored in that of the step they follow. Elsewhere the one
 * write that decides the step also puts them into the document of the job they follow, with the ids they will have, and
 * they become jobs right afterwards; what a crash leaves behind becomes jobs at the next upkeep. Whoever does it, and
 * however often, each becomes a job once.
 */
final class Sequels {

    /** What {@link Fields#OWES} says: they are in {@link Fields#SEQUELS}. */
    private static final String JOBS = "jobs";

    /** What it says of an expired job for which nobody has been asked yet what follows. */
    private static final String ANSWER = "answer";

    private static final int BATCH = 200;

    private final Inserts inserts;
    private final JobDocs jobDocs;

    Sequels(Inserts inserts, JobDocs jobDocs) {
        this.inserts = inserts;
        this.jobDocs = jobDocs;
    }

    /** Makes them a part of the change that decides a step, unless it is in a transaction. */
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

    /** After the step: stores what follows it, by job. */
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

    /** Makes expired jobs say that something may follow them, until it is known what, unless this is a transaction. */
    static void owe(Scope scope, Change change) {
        if (!scope.isTransaction()) {
            change.set(Fields.OWES, ANSWER);
        }
    }

    /** Stores what follows expired jobs. */
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

    /** Whether nobody else had answered. */
    private boolean answer(Scope scope, JobId id, List<JobSpec> specs) {
        Change change = Change.none().remove(Fields.OWES);
        attach(scope, change, specs);
        return scope.jobs().update(JobDocs.byId(id).append(Fields.OWES, ANSWER), change);
    }

    /** Stores what a crash kept from becoming jobs. */
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
            // What was added meanwhile is released by whoever added it, or at the next upkeep.
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
