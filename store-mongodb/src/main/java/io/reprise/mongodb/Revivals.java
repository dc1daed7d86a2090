// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.MongoException;
import com.mongodb.client.model.UpdateOneModel;
import io.reprise.JobId;
import io.reprise.JobState;
import io.reprise.WaitReason;
import io.reprise.store.Note;
import io.reprise.store.Revival;
import io.reprise.store.Revived;
import io.reprise.store.Revived.Result;
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
final class Revivals {

    private static final String[] OF_THE_OLD_LIFE = {
        Fields.HISTORY, Fields.TOKEN, Fields.RUNNER, Fields.MARK, Fields.PROGRESS, Fields.HELD_KEY, Fields.LIVE_QUEUE
    };

    /** Rolls back the transaction. */
    @SuppressWarnings("serial")
    private static final class KeyTaken extends RuntimeException {}

    private static final Document OF_A_REVIVAL = new Document(Fields.QUEUE, 1)
            .append(Fields.STATUS, 1)
            .append(Fields.GRANTED, 1)
            .append(Fields.LIFE, 1)
            .append("key", 1);

    private final Mongo mongo;
    private final DeadLetters deadLetters;

    Revivals(Mongo mongo, DeadLetters deadLetters) {
        this.mongo = mongo;
        this.deadLetters = deadLetters;
    }

    Revived revive(JobId id, Revival revival, Note note) {
        try {
            return mongo.atomically("revive a job", scope -> revive(scope, id, revival, note));
        } catch (KeyTaken e) {
            // Without a transaction the dead letter was moved back, so it is moved again.
            deadLetters.move(List.of(id.value()));
            return new Revived(Result.KEY_TAKEN, null);
        }
    }

    /**
     * Puts jobs back that keep their id and have no key, in one step. The others may conflict on a key,
     * so they follow one by one.
     */
    Map<JobId, Revived> reviveAll(Map<JobId, Revival> revivals, Note note) {
        Map<JobId, Revived> answers = new HashMap<>();
        mongo.atomically("revive jobs", scope -> revivePlain(scope, revivals, note))
                .forEach(id -> answers.put(id, new Revived(Result.DONE, id)));
        revivals.forEach((id, revival) -> {
            if (!answers.containsKey(id)) {
                answers.put(id, revive(id, revival, note));
            }
        });
        return answers;
    }

    private List<JobId> revivePlain(Scope scope, Map<JobId, Revival> revivals, Note note) {
        long now = scope.now();
        ObjectId mark = new ObjectId();
        List<Long> same = revivals.entrySet().stream()
                .filter(entry -> !entry.getValue().edit().newId())
                .map(entry -> entry.getKey().value())
                .toList();
        deadLetters.bringBackAll(scope, plain(same));
        List<UpdateOneModel<Document>> models = new ArrayList<>();
        List<Long> found = new ArrayList<>();
        scope.jobs().find(plain(same)).projection(OF_A_REVIVAL).forEach(job -> {
            Revival revival = Objects.requireNonNull(revivals.get(new JobId(JobDocs.idOf(job))));
            Change change = change(job, revival, now).set(Fields.MARK, mark);
            models.add(new UpdateOneModel<>(unchanged(job), change.build()));
            found.add(JobDocs.idOf(job));
        });
        if (models.isEmpty()) {
            return List.of();
        }
        int put = scope.jobs().bulk(models).getMatchedCount();
        List<JobId> revived = (put == found.size()
                        ? found
                        : Queries.ids(scope.jobs().find(JobDocs.byIds(found).append(Fields.MARK, mark))))
                .stream().map(JobId::new).toList();
        Map<JobId, String> actions = new HashMap<>();
        revived.forEach(
                id -> actions.put(id, Objects.requireNonNull(revivals.get(id)).action()));
        Audit.jobs(
                scope,
                now,
                note,
                actions,
                id -> Objects.requireNonNull(revivals.get(id)).detail(id, id));
        return revived;
    }

    private static Document plain(List<Long> ids) {
        return JobDocs.byIds(ids)
                .append(Fields.STATUS, Fields.in(List.of(Fields.FAILED, Fields.PENDING)))
                .append("key", null);
    }

    private Revived revive(Scope scope, JobId id, Revival revival, Note note) {
        long now = scope.now();
        while (true) {
            Document job = scope.jobs().first(JobDocs.byId(id));
            if (job == null) {
                job = bringBack(scope, id);
            }
            if (job == null) {
                return new Revived(Result.MISSING, null);
            }
            JobState state = JobDocs.stateOf(job);
            if (state != JobState.FAILED && state != JobState.PENDING) {
                return new Revived(Result.NOT_WAITING, null);
            }
            JobId revived = revival.edit().newId()
                    ? renew(scope, job, revival, now)
                    : put(scope, job, change(job, revival, now));
            if (revived != null) {
                Audit.job(scope, now, revival.action(), id, note, revival.detail(id, revived));
                return new Revived(Result.DONE, revived);
            }
        }
    }

    private @Nullable Document bringBack(Scope scope, JobId id) {
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
        return new Document(Fields.ID, JobDocs.idOf(job))
                .append(Fields.QUEUE, job.get(Fields.QUEUE))
                .append(Fields.STATUS, job.get(Fields.STATUS))
                .append(Fields.GRANTED, job.get(Fields.GRANTED));
    }

    private static @Nullable JobId put(Scope scope, Document job, Change change) {
        try {
            return scope.jobs().update(unchanged(job), change) ? new JobId(JobDocs.idOf(job)) : null;
        } catch (MongoException e) {
            throw orKeyTaken(e);
        }
    }

    /**
     * Replaces the job by one with a new id. Without a transaction the old job releases its keys first and is deleted
     * last, so that at least one of the two exists at any time.
     */
    private static @Nullable JobId renew(Scope scope, Document old, Revival revival, long now) {
        Document unkeyed = unchanged(old);
        Change release = Change.at(now).remove(Fields.HELD_KEY, Fields.IDEMPOTENCY_KEYS);
        if (!scope.jobs().update(unkeyed, release)) {
            return null;
        }
        long id = scope.next("job", 1);
        Document job = new Document(Fields.ID, id);
        old.forEach(job::putIfAbsent);
        for (String field : OF_THE_OLD_LIFE) {
            job.remove(field);
        }
        // CANCELLED, so that no claim takes it before the change that revives it.
        job.append(Fields.STATUS, Fields.CANCELLED)
                .append(Fields.CREATED, now)
                .append(Fields.CREATED_AT, Micros.date(now));
        scope.jobs().insert(job);
        try {
            scope.jobs().update(new Document(Fields.ID, id), change(old, revival, now));
        } catch (MongoException e) {
            if (!scope.isTransaction()) {
                scope.jobs().delete(new Document(Fields.ID, id));
                scope.jobs()
                        .update(unkeyed, Change.none().set(Fields.IDEMPOTENCY_KEYS, old.get(Fields.IDEMPOTENCY_KEYS)));
            }
            throw orKeyTaken(e);
        }
        scope.jobs().delete(new Document(Fields.ID, JobDocs.idOf(old)));
        return new JobId(id);
    }

    private static RuntimeException orKeyTaken(MongoException e) {
        return MongoErrors.isDuplicate(e) ? new KeyTaken() : e;
    }

    private static Change change(Document job, Revival revival, long now) {
        long due = Micros.plus(now, revival.delay());
        String queue = Objects.requireNonNullElse(revival.edit().queue(), job.getString(Fields.QUEUE));
        Change change = Endings.waitUntil(Change.at(now), due, WaitReason.MANUAL)
                .set(Fields.QUEUE, queue)
                .set(Fields.LIVE_QUEUE, queue)
                .set(Fields.HELD_KEY, job.get("key"))
                .remove(Fields.DEADLINE);
        if (revival.edit().payload() != null) {
            change.set("payload", revival.edit().payload());
        }
        if (revival.window() != null) {
            change.set(Fields.FIRST_DUE, due).set(Fields.DEADLINE, Micros.plus(due, revival.window()));
        }
        int granted = Fields.integer(job, Fields.GRANTED);
        if (revival.resetCounts()) {
            granted = 0;
            change.set(Fields.ATTEMPTS, 0)
                    .set(Fields.LOSSES, 0)
                    .set(Fields.INTERRUPTIONS, 0)
                    .set(Fields.SNOOZES, 0)
                    .set(Fields.LANE, Fields.FRESH)
                    .remove(Fields.LAST_DELAY);
        }
        change.set(Fields.LIFE, Fields.numberOr(job, Fields.LIFE, 0) + 1);
        return change.set(Fields.GRANTED, Math.addExact(granted, revival.grant()));
    }
}
