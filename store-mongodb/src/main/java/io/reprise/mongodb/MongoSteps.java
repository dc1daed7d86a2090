// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.failure.FailureClass;
import io.reprise.job.AuditNote;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.WaitReason;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoAudit;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoTime;
import io.reprise.retry.FailReason;
import io.reprise.step.Checkpoint;
import io.reprise.step.StepEdit;
import io.reprise.step.StepList;
import io.reprise.step.StepWrite;
import io.reprise.step.StoredStep;
import io.reprise.step.Telling;
import io.reprise.store.StoreException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes the steps of jobs: a list in the job's document. So a change of a step and of its job is one update,
 * and the token of the job is in the filter of every checkpoint.
 */
final class MongoSteps {

    private static final Document STEPS_ONLY = new Document(FieldNames.STEPS, 1);

    private static final Document OF_A_JOB = new Document(FieldNames.STEPS, 1)
            .append(FieldNames.STATUS, 1)
            .append(FieldNames.WAIT_REASON, 1)
            .append(FieldNames.TOKEN, 1)
            .append(FieldNames.DUE, 1);

    /** Between read and write a job changes by a claim or a settlement, so few rounds are needed. */
    private static final int MOST_ROUNDS = 100;

    private final Mongo mongo;

    MongoSteps(Mongo mongo) {
        this.mongo = mongo;
    }

    StepList read(JobId id) {
        return mongo.run("read steps", scope -> {
            Document job = DeadLetters.find(scope, id, STEPS_ONLY);
            List<StoredStep> steps = job == null ? List.of() : all(job);
            return new StepList(MongoTime.instant(scope.now()), steps);
        });
    }

    private static List<StoredStep> all(Document job) {
        List<StoredStep> steps = new ArrayList<>();
        documents(job).forEach(step -> steps.add(read(step)));
        steps.sort(Comparator.comparing(StoredStep::at).thenComparing(StoredStep::name));
        return steps;
    }

    private static List<Document> documents(Document job) {
        List<Document> steps = job.getList(FieldNames.STEPS, Document.class);
        return steps == null ? List.of() : steps;
    }

    /** Returns the state of a step in a job's document; null if there is no such step. */
    static StoredStep.@Nullable State state(Document job, String name) {
        StoredStep there = find(job, name);
        return there == null ? null : there.state();
    }

    /** Returns the due time of a step in a job's document; null if it has none. */
    static @Nullable Long due(Document job, String name) {
        StoredStep there = find(job, name);
        return there == null ? null : dueOf(there);
    }

    private static @Nullable Long dueOf(StoredStep step) {
        return step.dueAt() == null ? null : MongoTime.of(step.dueAt());
    }

    private static @Nullable StoredStep find(Document job, String name) {
        return documents(job).stream()
                .filter(step -> name.equals(step.getString("name")))
                .findFirst()
                .map(MongoSteps::read)
                .orElse(null);
    }

    List<Checkpoint.Answer> checkpoint(List<Checkpoint> checkpoints) {
        return mongo.run("store steps", scope -> checkpoint(scope, checkpoints));
    }

    static List<Checkpoint.Answer> checkpoint(MongoScope scope, List<Checkpoint> checkpoints) {
        return checkpoints.stream().map(each -> checkpoint(scope, each)).toList();
    }

    private static Checkpoint.Answer checkpoint(MongoScope scope, Checkpoint checkpoint) {
        StepWrite step = checkpoint.step();
        Document held = JobDocs.byId(checkpoint.job())
                .append(FieldNames.STATUS, FieldNames.PROCESSING)
                .append(FieldNames.TOKEN, checkpoint.token());
        Document filter = new Document(held);
        Change change = Change.none();
        put(filter, change, step, new Row(checkpoint.token(), scope.now(), null));
        if (scope.jobs().update(filter, change)) {
            return Checkpoint.Answer.WRITTEN;
        }
        Document job = scope.jobs().find(held).projection(STEPS_ONLY).first();
        if (job == null) {
            return Checkpoint.Answer.STALE;
        }
        StoredStep there = find(job, step.name());
        return there != null && isSame(there, checkpoint) ? Checkpoint.Answer.WRITTEN : Checkpoint.Answer.OTHER;
    }

    private static boolean isSame(StoredStep there, Checkpoint checkpoint) {
        StepWrite step = checkpoint.step();
        return there.token() == checkpoint.token()
                && there.kind() == step.kind()
                && there.state() == step.state()
                && Objects.equals(there.value(), step.value())
                && Objects.equals(there.failure(), step.failure());
    }

    /** Adds a row to a change, and the condition that it may be written to the filter. */
    static void put(Document filter, Change change, StepWrite step, Row row) {
        Document values = row(step, row);
        if (step.replaces()) {
            List<String> unfinished = List.of(StoredStep.State.OPEN.name(), StoredStep.State.STARTED.name());
            Document pinned = new Document("name", step.name()).append("state", FieldNames.in(unfinished));
            // Names are unique in the list, so both conditions match the same entry.
            filter.append(FieldNames.STEPS, new Document("$elemMatch", pinned))
                    .append(FieldNames.STEPS + ".name", step.name());
            change.set(FieldNames.STEPS + ".$", values);
        } else {
            filter.append(FieldNames.STEPS + ".name", new Document("$ne", step.name()));
            change.pushAll(FieldNames.STEPS, List.of(values));
        }
        if (step.granted() != null) {
            change.raise(FieldNames.GRANTED, step.granted());
        }
    }

    /**
     * The values that the store adds to a row.
     *
     * @param due due time of the row that is there, which stays if the step has none
     */
    record Row(long token, long now, @Nullable Long due) {}

    private static Document row(StepWrite step, Row row) {
        StoredStep.StepFailure failure = step.failure();
        Document values = new Document("name", step.name())
                .append("kind", step.kind().name())
                .append("state", step.state().name())
                .append("token", row.token)
                .append("at_us", row.now)
                .append("due_us", step.delay() == null ? row.due : (Long) MongoTime.plus(row.now, step.delay()))
                .append("suspensions", step.suspensions())
                .append("type", step.type())
                .append("value", step.value())
                .append("reason", failure == null ? null : failure.reason().name())
                .append("class", failure == null ? null : failure.failureClass().name())
                .append("error", failure == null ? null : failure.type())
                .append("message", failure == null ? null : failure.message());
        values.values().removeIf(Objects::isNull);
        return values;
    }

    Telling tell(JobId id, String name, String type, String value) {
        return mongo.run("tell a job", scope -> {
            for (int round = 0; round < MOST_ROUNDS; round++) {
                Telling answer = tell(scope, id, name, type, value);
                if (answer != null) {
                    return answer;
                }
            }
            throw new StoreException(
                    "MongoDB could not tell job " + id + ": it changes again and again", new IllegalStateException());
        });
    }

    /** Returns null if the job changed meanwhile. */
    private static @Nullable Telling tell(MongoScope scope, JobId id, String name, String type, String value) {
        Document job = DeadLetters.find(scope, id, OF_A_JOB);
        if (job == null) {
            return Telling.MISSING;
        }
        if (JobDocs.stateOf(job).isTerminal()) {
            return Telling.ENDED;
        }
        StoredStep there = find(job, name);
        if (there != null && there.kind() != StoredStep.Kind.EVENT) {
            return Telling.NOT_AN_EVENT;
        }
        if (there != null && there.isEnded()) {
            return Telling.ALREADY_TOLD;
        }
        if (isFull(job, there == null, value)) {
            return Telling.FULL;
        }
        long now = scope.now();
        StepWrite event = StepWrite.told(name, type, value);
        if (there != null) {
            event = event.replacing().suspended(there.suspensions());
        }
        // The job as it was read: a settlement that begins to wait changes the status.
        Document filter = JobDocs.byId(id)
                .append(FieldNames.STATUS, job.get(FieldNames.STATUS))
                .append(FieldNames.TOKEN, job.get(FieldNames.TOKEN));
        Change change = Change.at(now);
        put(filter, change, event, new Row(0, now, there == null ? null : dueOf(there)));
        if (there != null && waits(job, WaitReason.EVENT) && FieldNames.numberOr(job, FieldNames.DUE, 0) > now) {
            change.setAll(JobDocs.due(new Document(), now));
        }
        return scope.jobs().update(filter, change) ? Telling.TOLD : null;
    }

    private static boolean waits(Document job, WaitReason reason) {
        return JobDocs.stateOf(job) == JobState.PENDING && reason.name().equals(job.getString(FieldNames.WAIT_REASON));
    }

    /** Says whether an edit deletes an event or a join for which the job may wait. */
    private static boolean forgetsAwaited(Document job, StepEdit edit) {
        List<StoredStep> steps = all(job);
        if (edit instanceof StepEdit.Forget one) {
            StoredStep there = find(job, one.name());
            return there != null && there.isAwaited();
        }
        if (edit instanceof StepEdit.ForgetFrom from) {
            StoredStep first = Objects.requireNonNull(find(job, from.name()));
            return steps.stream()
                    .anyMatch(step -> step.isAwaited() && !step.at().isBefore(first.at()));
        }
        return edit instanceof StepEdit.ForgetAll && steps.stream().anyMatch(StoredStep::isAwaited);
    }

    private static boolean isFull(Document job, boolean more, String value) {
        List<Document> steps = documents(job);
        long bytes = value.getBytes(StandardCharsets.UTF_8).length;
        for (Document step : steps) {
            String known = step.getString("value");
            bytes += known == null ? 0 : known.getBytes(StandardCharsets.UTF_8).length;
        }
        return (more && steps.size() >= StoredStep.MAX_STEPS) || bytes > StoredStep.MAX_JOB_BYTES;
    }

    StepEdit.Result edit(JobId id, StepEdit edit, AuditNote note) {
        return mongo.atomically("edit steps", scope -> {
            for (int round = 0; round < MOST_ROUNDS; round++) {
                StepEdit.Result answer = edit(scope, id, edit);
                if (answer == StepEdit.Result.DONE) {
                    MongoAudit.job(scope, scope.now(), edit.action(), id, note, edit.detail());
                }
                if (answer != null) {
                    return answer;
                }
            }
            throw new StoreException(
                    "MongoDB could not edit the steps of job " + id + ": it changes again and again",
                    new IllegalStateException());
        });
    }

    /** Returns null if the job changed meanwhile. */
    private static StepEdit.@Nullable Result edit(MongoScope scope, JobId id, StepEdit edit) {
        Document job = DeadLetters.find(scope, id, OF_A_JOB);
        if (job == null) {
            return StepEdit.Result.MISSING;
        }
        if (JobDocs.stateOf(job) == JobState.RUNNING) {
            return StepEdit.Result.RUNNING;
        }
        Document filter = JobDocs.byId(id)
                .append(FieldNames.STATUS, job.get(FieldNames.STATUS))
                .append(FieldNames.TOKEN, job.get(FieldNames.TOKEN));
        Change change = Change.none();
        if (!change(job, edit, filter, change, scope.now())) {
            return StepEdit.Result.NO_STEP;
        }
        boolean waits = waits(job, WaitReason.EVENT) || waits(job, WaitReason.BATCH);
        if (waits && forgetsAwaited(job, edit)) {
            change.setAll(JobDocs.due(new Document(), scope.now()));
        }
        boolean changed = scope.jobs().update(filter, change)
                || (scope.hasDead() && scope.dead().update(filter, change));
        return changed ? StepEdit.Result.DONE : null;
    }

    /** Adds an edit to a change, and its condition to the filter. Returns false if there is no such step. */
    static boolean change(Document job, StepEdit edit, Document filter, Change change, long now) {
        if (edit instanceof StepEdit.Forget one) {
            change.pull(FieldNames.STEPS, new Document("name", one.name()));
            return state(job, one.name()) != null;
        }
        if (edit instanceof StepEdit.ForgetFrom from) {
            StoredStep first = find(job, from.name());
            long since = first == null ? 0 : MongoTime.of(first.at());
            change.pull(FieldNames.STEPS, new Document("at_us", new Document("$gte", since)));
            return first != null;
        }
        if (edit instanceof StepEdit.Resolve resolve) {
            change.set(FieldNames.STEPS + ".$", row(resolve.step(), new Row(0, now, null)));
            return pin(job, resolve.step().name(), filter) != null;
        }
        if (edit instanceof StepEdit.Repeat repeat) {
            Document pinned = pin(job, repeat.name(), filter);
            change.pull(FieldNames.STEPS, pinned == null ? new Document() : pinned);
            return pinned != null;
        }
        change.remove(FieldNames.STEPS);
        return true;
    }

    /** Adds to the filter that the step is still as it is here. Returns null if a person cannot say how it ended. */
    private static @Nullable Document pin(Document job, String name, Document filter) {
        StoredStep there = find(job, name);
        if (there == null || !there.isResolvable()) {
            return null;
        }
        Document pinned =
                new Document("name", name).append("state", there.state().name()).append("token", there.token());
        // Names are unique in the list, so both conditions match the same entry.
        filter.append(FieldNames.STEPS, new Document("$elemMatch", pinned)).append(FieldNames.STEPS + ".name", name);
        return pinned;
    }

    private static StoredStep read(Document step) {
        Long due = FieldNames.number(step, "due_us");
        FailReason reason = FieldNames.constant(FailReason.class, step.get("reason"), FailReason.PERMANENT);
        FailureClass failureClass = FieldNames.constant(FailureClass.class, step.get("class"), FailureClass.TRANSIENT);
        return new StoredStep(
                Objects.requireNonNullElse(FieldNames.text(step, "name"), "unknown"),
                Objects.requireNonNullElse(
                        FieldNames.constant(StoredStep.Kind.class, step.get("kind"), StoredStep.Kind.STEP),
                        StoredStep.Kind.STEP),
                Objects.requireNonNullElse(
                        FieldNames.constant(StoredStep.State.class, step.get("state"), StoredStep.State.OPEN),
                        StoredStep.State.OPEN),
                FieldNames.numberOr(step, "token", 0),
                MongoTime.instant(FieldNames.numberOr(step, "at_us", 0)),
                due == null ? null : MongoTime.instant(due),
                FieldNames.integer(step, "suspensions"),
                FieldNames.text(step, "type"),
                FieldNames.text(step, "value"),
                reason == null
                        ? null
                        : new StoredStep.StepFailure(
                                reason,
                                Objects.requireNonNullElse(failureClass, FailureClass.TRANSIENT),
                                Objects.requireNonNullElse(FieldNames.text(step, "error"), "unknown"),
                                FieldNames.text(step, "message")));
    }
}
