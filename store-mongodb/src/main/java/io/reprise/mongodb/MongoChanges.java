// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.client.model.UpdateOneModel;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobChange;
import io.reprise.job.JobChange.Answer;
import io.reprise.job.JobId;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoAudit;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoTime;
import io.reprise.mongodb.docs.SpecDocs;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.bson.Document;
import org.bson.types.ObjectId;

/** Changes waiting jobs. A job that was claimed or changed since it was read is looked at again. */
final class MongoChanges {

    private final Mongo mongo;
    private final JobDocs jobDocs;

    MongoChanges(Mongo mongo, JobDocs jobDocs) {
        this.mongo = mongo;
        this.jobDocs = jobDocs;
    }

    Map<JobId, Answer> changeAll(Map<JobId, JobChange> changes, AuditNote note) {
        Map<JobId, Answer> answers = new HashMap<>();
        Map<JobId, JobChange> left = new LinkedHashMap<>(changes);
        while (!left.isEmpty()) {
            Map<JobId, JobChange> some = Map.copyOf(left);
            answers.putAll(mongo.atomically("change jobs", scope -> change(scope, some, note)));
            left.keySet().removeAll(answers.keySet());
        }
        return answers;
    }

    /** Jobs that another caller was quicker with have no answer. */
    private Map<JobId, Answer> change(MongoScope scope, Map<JobId, JobChange> changes, AuditNote note) {
        long now = scope.now();
        ObjectId mark = new ObjectId();
        Map<JobId, Answer> answers = new HashMap<>();
        changes.keySet().forEach(id -> answers.put(id, Answer.MISSING));
        List<UpdateOneModel<Document>> models = new ArrayList<>();
        List<Long> tried = new ArrayList<>();
        List<Long> ids = changes.keySet().stream().map(JobId::value).sorted().toList();
        for (Document document : DeadLetters.findAll(scope, ids, JobDocs.BRIEF)) {
            SpecDocs.withoutPayload(document);
            Job job = jobDocs.read(document);
            JobChange change = Objects.requireNonNull(changes.get(job.id()));
            JobChange.Changed changed = change.applyTo(job, MongoTime.instant(now));
            answers.put(job.id(), changed.answer());
            if (changed.answer() == Answer.DONE) {
                tried.add(job.id().value());
                models.add(new UpdateOneModel<>(
                        unchanged(document),
                        update(Change.at(now), change, changed)
                                .set(FieldNames.MARK, mark)
                                .build()));
            }
        }
        if (!models.isEmpty()) {
            boolean all = scope.jobs().bulk(models).getMatchedCount() == models.size();
            Set<Long> done = new HashSet<>(
                    all
                            ? tried
                            : MongoQueries.ids(
                                    scope.jobs().find(JobDocs.byIds(tried).append(FieldNames.MARK, mark))));
            tried.stream().filter(id -> !done.contains(id)).forEach(id -> answers.remove(new JobId(id)));
            noted(scope, now, changes, done, note);
        }
        return answers;
    }

    private static void noted(
            MongoScope scope, long now, Map<JobId, JobChange> changes, Set<Long> done, AuditNote note) {
        Map<JobId, String> actions = new LinkedHashMap<>();
        done.stream().sorted().forEach(id -> actions.put(new JobId(id), "change"));
        if (!actions.isEmpty()) {
            MongoAudit.jobs(
                    scope,
                    now,
                    note,
                    actions,
                    id -> Objects.requireNonNull(changes.get(id)).detail());
        }
    }

    /** Matches the job only if it still waits as it was read. A claim changes its status, a requeue its life. */
    private static Document unchanged(Document job) {
        return new Document(FieldNames.ID, JobDocs.idOf(job))
                .append(FieldNames.QUEUE, job.get(FieldNames.QUEUE))
                .append(FieldNames.STATUS, FieldNames.PENDING)
                .append(FieldNames.DUE, job.get(FieldNames.DUE))
                .append(FieldNames.WAIT_REASON, job.get(FieldNames.WAIT_REASON))
                .append(FieldNames.DEADLINE, job.get(FieldNames.DEADLINE))
                .append(FieldNames.LIFE, job.get(FieldNames.LIFE));
    }

    private static Change update(Change update, JobChange change, JobChange.Changed changed) {
        Document spec = SpecDocs.write(changed.spec());
        if (change.policy() != null) {
            SpecDocs.POLICY_FIELDS.forEach(field -> update.set(field, spec.get(field)));
        }
        if (change.payload() != null) {
            update.set(SpecDocs.PAYLOAD, spec.get(SpecDocs.PAYLOAD));
        }
        if (changed.unparks()) {
            update.set(FieldNames.PARKED, false).remove(FieldNames.PARKED_BY);
        }
        if (changed.dueAt() != null) {
            update.setAll(JobDocs.due(new Document(), MongoTime.of(changed.dueAt())));
        }
        if (changed.waitReason() != null) {
            update.set(FieldNames.WAIT_REASON, changed.waitReason().name());
        }
        return update.set(FieldNames.QUEUE, changed.spec().queue())
                .set(FieldNames.LIVE_QUEUE, changed.spec().queue())
                .set(FieldNames.PRIORITY, changed.spec().priority())
                .set(FieldNames.DEADLINE, MongoTime.ofNullable(changed.deadline()));
    }
}
