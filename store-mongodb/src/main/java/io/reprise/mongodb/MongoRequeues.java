// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.MongoException;
import com.mongodb.client.model.UpdateOneModel;
import io.reprise.batch.BatchTally;
import io.reprise.batch.Membership;
import io.reprise.job.AuditNote;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.WaitReason;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoAudit;
import io.reprise.mongodb.docs.MongoEndings;
import io.reprise.mongodb.docs.MongoErrors;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoTime;
import io.reprise.mongodb.docs.SpecDocs;
import io.reprise.step.StepEdit;
import io.reprise.step.StoredStep;
import io.reprise.store.Lane;
import io.reprise.store.Requeue;
import io.reprise.store.RequeueResult;
import io.reprise.store.RequeueResult.Result;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.bson.Document;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

/**
 * Puts dead letters and waiting jobs back. The unique index on {@code held_key} refuses the write if the key is taken.
 */
final class MongoRequeues {

    private static final String[] OF_THE_OLD_LIFE = {
        FieldNames.HISTORY,
        FieldNames.STEPS,
        FieldNames.TOKEN,
        FieldNames.RUNNER,
        FieldNames.MARK,
        FieldNames.PROGRESS,
        FieldNames.HELD_KEY,
        FieldNames.LIVE_QUEUE
    };

    /** Rolls back the transaction. */
    @SuppressWarnings("serial")
    private static final class KeyTaken extends RuntimeException {}

    private static final Document OF_A_REQUEUE = new Document(FieldNames.QUEUE, 1)
            .append(FieldNames.STATUS, 1)
            .append(FieldNames.WAIT_REASON, 1)
            .append(FieldNames.DUE, 1)
            .append(FieldNames.GRANTED, 1)
            .append(FieldNames.BATCH, 1)
            .append(FieldNames.CREATED, 1)
            .append(FieldNames.LIFE, 1)
            .append("key", 1);

    private final Mongo mongo;
    private final DeadLetters deadLetters;

    MongoRequeues(Mongo mongo, DeadLetters deadLetters) {
        this.mongo = mongo;
        this.deadLetters = deadLetters;
    }

    RequeueResult requeue(JobId id, Requeue requeue, AuditNote note) {
        try {
            return mongo.atomically("requeue a job", scope -> requeue(scope, id, requeue, note));
        } catch (KeyTaken e) {
            // Without a transaction the dead letter was moved back, so it is moved again.
            deadLetters.move(List.of(id.value()));
            return new RequeueResult(Result.KEY_TAKEN, null);
        }
    }

    /**
     * Puts jobs back that keep their id and have no key, in one step. The others may conflict on a key,
     * so they follow one by one.
     */
    Map<JobId, RequeueResult> requeueAll(Map<JobId, Requeue> requeues, AuditNote note) {
        Map<JobId, RequeueResult> answers = new HashMap<>();
        mongo.atomically("requeue jobs", scope -> requeuePlain(scope, requeues, note))
                .forEach(id -> answers.put(id, new RequeueResult(Result.DONE, id)));
        requeues.forEach((id, requeue) -> {
            if (!answers.containsKey(id)) {
                answers.put(id, requeue(id, requeue, note));
            }
        });
        return answers;
    }

    private List<JobId> requeuePlain(MongoScope scope, Map<JobId, Requeue> requeues, AuditNote note) {
        long now = scope.now();
        ObjectId mark = new ObjectId();
        List<Long> same = requeues.entrySet().stream()
                .filter(entry -> !entry.getValue().edit().newId()
                        && entry.getValue().edit().steps() == null)
                .map(entry -> entry.getKey().value())
                .toList();
        deadLetters.bringBackAll(scope, plain(same));
        List<UpdateOneModel<Document>> models = new ArrayList<>();
        List<Long> found = new ArrayList<>();
        Map<JobId, Membership> dead = new HashMap<>();
        scope.jobs().find(plain(same)).projection(OF_A_REQUEUE).forEach(job -> {
            if (JobDocs.awaitsBatch(job)) {
                return;
            }
            Requeue requeue = Objects.requireNonNull(requeues.get(new JobId(JobDocs.idOf(job))));
            Change change = change(scope, job, requeue, now).set(FieldNames.MARK, mark);
            models.add(new UpdateOneModel<>(unchanged(job), change.build()));
            found.add(JobDocs.idOf(job));
            Membership member = SpecDocs.member(job);
            if (member != null && JobDocs.stateOf(job) == JobState.FAILED) {
                dead.put(new JobId(JobDocs.idOf(job)), member);
            }
        });
        if (models.isEmpty()) {
            return List.of();
        }
        int put = scope.jobs().bulk(models).getMatchedCount();
        List<JobId> requeued = (put == found.size()
                        ? found
                        : MongoQueries.ids(
                                scope.jobs().find(JobDocs.byIds(found).append(FieldNames.MARK, mark))))
                .stream().map(JobId::new).toList();
        BatchTally tally = new BatchTally();
        requeued.forEach(id -> tally.revived(dead.get(id)));
        MongoBatches.count(scope, tally);
        Map<JobId, String> actions = new HashMap<>();
        requeued.forEach(
                id -> actions.put(id, Objects.requireNonNull(requeues.get(id)).action()));
        MongoAudit.jobs(
                scope,
                now,
                note,
                actions,
                id -> Objects.requireNonNull(requeues.get(id)).detail(id, id));
        return requeued;
    }

    private static Document plain(List<Long> ids) {
        return JobDocs.byIds(ids)
                .append(FieldNames.STATUS, FieldNames.in(List.of(FieldNames.FAILED, FieldNames.PENDING)))
                .append("key", null);
    }

    private RequeueResult requeue(MongoScope scope, JobId id, Requeue requeue, AuditNote note) {
        long now = scope.now();
        while (true) {
            Document job = scope.jobs().first(JobDocs.byId(id));
            if (job == null) {
                job = bringBack(scope, id);
            }
            if (job == null) {
                return new RequeueResult(Result.MISSING, null);
            }
            JobState state = JobDocs.stateOf(job);
            if (state != JobState.FAILED && state != JobState.PENDING) {
                return new RequeueResult(Result.NOT_WAITING, null);
            }
            if (JobDocs.awaitsBatch(job)) {
                return new RequeueResult(Result.FOLLOWS, null);
            }
            StepEdit steps = requeue.edit().steps();
            Document filter = unchanged(job);
            Change change = change(scope, job, requeue, now);
            if (steps != null && !MongoSteps.change(job, steps, filter, change, now)) {
                return new RequeueResult(Result.NO_STEP, null);
            }
            JobId requeued = requeue.edit().newId() ? renew(scope, job, requeue, now) : put(scope, job, filter, change);
            if (requeued != null) {
                if (steps != null) {
                    MongoAudit.job(scope, now, steps.action(), id, note, steps.detail());
                }
                BatchTally tally = new BatchTally();
                tally.revived(state == JobState.FAILED ? SpecDocs.member(job) : null);
                MongoBatches.count(scope, tally);
                MongoAudit.job(scope, now, requeue.action(), id, note, requeue.detail(id, requeued));
                return new RequeueResult(Result.DONE, requeued);
            }
        }
    }

    private @Nullable Document bringBack(MongoScope scope, JobId id) {
        try {
            return deadLetters.bringBack(scope, id);
        } catch (MongoException e) {
            Document other = scope.isTransaction() ? null : scope.jobs().first(JobDocs.byId(id));
            if (other == null) {
                throw orKeyTaken(e);
            }
            return other;
        }
    }

    /** Matches the job only if it is as it was read. The queue is in the filter for a cluster that is sharded by it. */
    private static Document unchanged(Document job) {
        return new Document(FieldNames.ID, JobDocs.idOf(job))
                .append(FieldNames.QUEUE, job.get(FieldNames.QUEUE))
                .append(FieldNames.STATUS, job.get(FieldNames.STATUS))
                .append(FieldNames.GRANTED, job.get(FieldNames.GRANTED));
    }

    private static @Nullable JobId put(MongoScope scope, Document job, Document filter, Change change) {
        try {
            return scope.jobs().update(filter, change) ? new JobId(JobDocs.idOf(job)) : null;
        } catch (MongoException e) {
            throw orKeyTaken(e);
        }
    }

    /**
     * Replaces the job by one with a new id. Without a transaction the old job releases its keys first and is deleted
     * last, so that at least one of the two exists at any time.
     */
    private static @Nullable JobId renew(MongoScope scope, Document old, Requeue requeue, long now) {
        Document unkeyed = unchanged(old);
        Change release = Change.at(now).remove(FieldNames.HELD_KEY, FieldNames.IDEMPOTENCY_KEYS);
        if (!scope.jobs().update(unkeyed, release)) {
            return null;
        }
        long id = scope.next("job", 1);
        Document job = new Document(FieldNames.ID, id);
        old.forEach(job::putIfAbsent);
        for (String field : OF_THE_OLD_LIFE) {
            job.remove(field);
        }
        // CANCELLED, so that no claim takes it before the change that requeues it.
        job.append(FieldNames.STATUS, FieldNames.CANCELLED)
                .append(FieldNames.CREATED, now)
                .append(FieldNames.CREATED_AT, MongoTime.date(now));
        scope.jobs().insert(job);
        try {
            scope.jobs().update(new Document(FieldNames.ID, id), change(old, requeue, now));
        } catch (MongoException e) {
            if (!scope.isTransaction()) {
                scope.jobs().delete(new Document(FieldNames.ID, id));
                scope.jobs()
                        .update(
                                unkeyed,
                                Change.none().set(FieldNames.IDEMPOTENCY_KEYS, old.get(FieldNames.IDEMPOTENCY_KEYS)));
            }
            throw orKeyTaken(e);
        }
        scope.jobs().delete(new Document(FieldNames.ID, JobDocs.idOf(old)));
        MongoBatches.forget(scope, List.of(JobDocs.idOf(old)));
        return new JobId(id);
    }

    private static RuntimeException orKeyTaken(MongoException e) {
        return MongoErrors.isDuplicate(e) ? new KeyTaken() : e;
    }

    /** Returns the change of a job. It leaves its batch if it is of an earlier one of that name. */
    private static Change change(MongoScope scope, Document job, Requeue requeue, long now) {
        boolean leaves = MongoBatches.isOfEarlier(scope, job);
        if (leaves) {
            job.remove(FieldNames.BATCH);
        }
        Change change = change(job, requeue, now);
        return leaves ? change.remove(FieldNames.BATCH) : change;
    }

    private static Change change(Document job, Requeue requeue, long now) {
        long due = MongoTime.of(requeue.due(MongoTime.instant(now)));
        String queue = Objects.requireNonNullElse(requeue.edit().queue(), job.getString(FieldNames.QUEUE));
        boolean turns = requeue.resetCounts() || FieldNames.laneOf(job) != Lane.SUSPECT;
        String group = turns ? FieldNames.text(job, FieldNames.GROUP) : null;
        Change change = MongoEndings.waitUntil(Change.at(now), due, WaitReason.MANUAL, group)
                .set(FieldNames.QUEUE, queue)
                .set(FieldNames.LIVE_QUEUE, queue)
                .set(FieldNames.HELD_KEY, job.get("key"))
                .remove(FieldNames.DEADLINE);
        if (requeue.edit().steps() == null) {
            Document failed =
                    new Document("state", StoredStep.State.FAILED.name()).append("token", FieldNames.after(0));
            change.pull(FieldNames.STEPS, failed);
        }
        if (requeue.edit().payload() != null) {
            SpecDocs.payload(change, requeue.edit().payload());
        }
        if (requeue.window() != null) {
            change.set(FieldNames.FIRST_DUE, due).set(FieldNames.DEADLINE, MongoTime.plus(due, requeue.window()));
        }
        int granted = FieldNames.integer(job, FieldNames.GRANTED);
        if (requeue.resetCounts()) {
            granted = 0;
            change.set(FieldNames.ATTEMPTS, 0)
                    .set(FieldNames.LOSSES, 0)
                    .set(FieldNames.INTERRUPTIONS, 0)
                    .set(FieldNames.SNOOZES, 0)
                    .set(FieldNames.LANE, FieldNames.lane(Lane.FRESH))
                    .remove(FieldNames.LAST_DELAY);
        }
        change.set(FieldNames.LIFE, FieldNames.numberOr(job, FieldNames.LIFE, 0) + 1);
        return change.set(FieldNames.GRANTED, Math.addExact(granted, requeue.grant()));
    }
}
