// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.MongoException;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import io.reprise.batch.BatchMember;
import io.reprise.batch.BatchState;
import io.reprise.batch.BatchTally;
import io.reprise.batch.Membership;
import io.reprise.job.AuditNote;
import io.reprise.job.Enqueued;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.Page;
import io.reprise.job.RefusedException;
import io.reprise.job.WaitReason;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoAudit;
import io.reprise.mongodb.docs.MongoEndings;
import io.reprise.mongodb.docs.MongoErrors;
import io.reprise.mongodb.docs.MongoLogs;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoTime;
import io.reprise.mongodb.docs.SpecDocs;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Counts the members of batches and makes the jobs due that wait for them. In a replica set this is part of the
 * transaction in which a member ends. On a single server it follows that step, and a crash between the two leaves the batch
 * open.
 */
final class MongoBatches {

    private static final String TOTAL = "total";
    private static final String SUCCEEDED = "succeeded";
    private static final String DEAD = "dead";
    private static final String CANCELLED = "cancelled";
    private static final String CREATED = "created_us";
    private static final String CLOSED = "closed_us";
    static final String ENDED = "ended_us";
    private static final String SUCCESS = "success_us";
    private static final String ON_SUCCESS = "on_success";
    private static final String ON_END = "on_end";
    static final String PARENT = "parent";
    private static final String STEP = "step";
    static final String BATCH = "batch";
    static final String PLACE = "place";

    /** How often a parent began to wait again. */
    private static final String LOOKS = "looks";

    private static final Document WAIT =
            new Document(FieldNames.DUE, 1).append(FieldNames.FIRST_DUE, 1).append(FieldNames.DEADLINE, 1);

    private final Mongo mongo;
    private final MongoInserts inserts;

    MongoBatches(Mongo mongo, MongoInserts inserts) {
        this.mongo = mongo;
        this.inserts = inserts;
    }

    private static Document byName(String name) {
        return new Document(FieldNames.ID, name);
    }

    private static Document absent() {
        return new Document("$exists", false);
    }

    private static Document present() {
        return new Document("$exists", true);
    }

    boolean create(String name, @Nullable JobSpec onSuccess, @Nullable JobSpec onEnd) {
        return MongoInserts.untilNotOvertaken(
                () -> mongo.atomically("create a batch", scope -> create(scope, name, onSuccess, onEnd)));
    }

    private boolean create(MongoScope scope, String name, @Nullable JobSpec onSuccess, @Nullable JobSpec onEnd) {
        if (scope.docs(MongoScope.BATCHES).exists(byName(name))) {
            return false;
        }
        List<JobSpec> specs =
                Stream.of(onSuccess, onEnd).flatMap(Stream::ofNullable).toList();
        List<Enqueued> stored = specs.isEmpty() ? List.of() : inserts.insert(scope, specs);
        for (Enqueued job : stored) {
            if (!job.created()) {
                throw RefusedException.followerThere(job.id());
            }
            scope.jobs()
                    .update(JobDocs.byId(job.id()), Change.none().set(FieldNames.WAIT_REASON, WaitReason.BATCH.name()));
        }
        Document row = fresh(name, 0, scope.now());
        if (onSuccess != null) {
            row.append(ON_SUCCESS, stored.get(0).id().value());
        }
        if (onEnd != null) {
            row.append(ON_END, stored.get(stored.size() - 1).id().value());
        }
        try {
            scope.docs(MongoScope.BATCHES).insert(row);
        } catch (MongoException e) {
            if (MongoErrors.isDuplicate(e) && !scope.isTransaction()) {
                stored.forEach(job -> scope.jobs().delete(JobDocs.byId(job.id())));
                return false;
            }
            throw e;
        }
        return true;
    }

    private static Document fresh(String name, int total, long now) {
        return byName(name)
                .append(TOTAL, (long) total)
                .append(SUCCEEDED, 0L)
                .append(DEAD, 0L)
                .append(CANCELLED, 0L)
                .append(CREATED, now);
    }

    /** Creates the batch of a join before its children can run. Its name is of this token only. */
    static void join(MongoScope scope, JobId parent, String step, List<JobSpec> children) {
        Membership first = Objects.requireNonNull(Membership.in(children.get(0)));
        if (!scope.docs(MongoScope.BATCHES).exists(byName(first.batch()))) {
            scope.docs(MongoScope.BATCHES)
                    .insert(fresh(first.batch(), children.size(), scope.now())
                            .append(CLOSED, scope.now())
                            .append(PARENT, parent.value())
                            .append(STEP, step));
        }
    }

    /** Deletes the earlier batches of a join that has begun again. */
    static void joined(MongoScope scope, JobId parent, String step, String name) {
        Document others = new Document(PARENT, parent.value())
                .append(STEP, step)
                .append(FieldNames.ID, new Document("$ne", name));
        for (Document old : scope.docs(MongoScope.BATCHES).list(others)) {
            scope.docs(MongoScope.MEMBERS).deleteAll(new Document(BATCH, old.get(FieldNames.ID)));
            scope.docs(MongoScope.BATCHES).delete(byName(old.getString(FieldNames.ID)));
        }
    }

    /** Makes a parent due that begins to wait again, if no child is open any more. */
    static void wakeIfJoined(MongoScope scope, JobId parent, String step) {
        Document join = new Document(PARENT, parent.value()).append(STEP, step);
        // Conflicts with a transaction that ends a child: either it sees that the parent waits, or the parent sees its
        // count.
        boolean unused =
                scope.docs(MongoScope.BATCHES).update(join, Change.none().add(LOOKS, 1L));
        boolean open = scope.docs(MongoScope.BATCHES).list(join).stream().anyMatch(row -> !isWhole(row));
        if (!open) {
            wake(scope, parent.value());
        }
    }

    /** Counts members that are about to be stored. */
    static void add(MongoScope scope, Map<Membership, Integer> added, boolean siblings) {
        Map<String, Integer> sums = new TreeMap<>();
        added.forEach((member, n) -> sums.merge(member.batch(), n, Integer::sum));
        sums.forEach((name, n) -> {
            Document open = byName(name).append(siblings ? ENDED : CLOSED, absent());
            if (!scope.docs(MongoScope.BATCHES).update(open, Change.none().add(TOTAL, (long) n))) {
                throw scope.docs(MongoScope.BATCHES).exists(byName(name))
                        ? RefusedException.closedBatch(name, siblings)
                        : RefusedException.noBatch(name);
            }
        });
    }

    /** Takes members back that could not be stored, where no transaction does it. */
    static void takeBack(MongoScope scope, Map<Membership, Integer> added) {
        added.forEach((member, n) -> scope.docs(MongoScope.BATCHES)
                .update(byName(member.batch()), Change.none().add(TOTAL, (long) -n)));
        if (!added.isEmpty()) {
            // Somebody may have closed a batch meanwhile, or the last of the others have ended.
            end(scope, added.keySet().stream().map(Membership::batch).toList());
        }
    }

    /** Whether a dead letter is of an earlier batch of the name, which was deleted. */
    static boolean isOfEarlier(MongoScope scope, Document job) {
        Membership member = JobDocs.stateOf(job) == JobState.FAILED ? SpecDocs.member(job) : null;
        Document row = member == null ? null : scope.docs(MongoScope.BATCHES).first(byName(member.batch()));
        // Without a batch, too: one that gets this name later must not count the job.
        return row == null
                ? member != null && !member.isChild()
                : !read(row).takes(MongoTime.instant(number(job, FieldNames.CREATED)));
    }

    /** Writes the sums of a step, and ends the batches of which nothing is open any more. */
    static void count(MongoScope scope, BatchTally tally) {
        if (tally.isEmpty()) {
            return;
        }
        keepChildren(scope, tally.children());
        tally.sums()
                .forEach((name, sum) -> scope.docs(MongoScope.BATCHES)
                        .update(
                                byName(name),
                                Change.none()
                                        .add(SUCCEEDED, sum.succeeded())
                                        .add(DEAD, sum.dead())
                                        .add(CANCELLED, sum.cancelled())));
        end(scope, tally.sums().keySet());
    }

    private static void keepChildren(MongoScope scope, List<BatchTally.Child> children) {
        Map<String, Long> parents = new HashMap<>();
        Set<String> names = new HashSet<>();
        children.forEach(child -> names.add(child.batch()));
        if (names.isEmpty()) {
            return;
        }
        scope.docs(MongoScope.BATCHES)
                .list(new Document(FieldNames.ID, FieldNames.in(names)))
                .forEach(row -> parents.put(row.getString(FieldNames.ID), FieldNames.numberOr(row, PARENT, 0)));
        List<UpdateOneModel<Document>> models = new ArrayList<>();
        for (BatchTally.Child child : children) {
            Long parent = parents.get(child.batch());
            if (parent != null) {
                BatchMember member = child.member();
                Document id = byName(new Membership(child.batch(), member.place()).toText());
                Change change = Change.none()
                        .set(PARENT, parent)
                        .set(BATCH, child.batch())
                        .set(PLACE, member.place())
                        .set("job", member.job().value())
                        .set("state", member.state().name())
                        .set(FieldNames.RESULT, member.result());
                models.add(new UpdateOneModel<>(id, change.build(), new UpdateOptions().upsert(true)));
            }
        }
        if (!models.isEmpty()) {
            scope.docs(MongoScope.MEMBERS).bulk(models);
        }
    }

    private static long number(Document row, String field) {
        return FieldNames.numberOr(row, field, 0);
    }

    private static boolean isWhole(Document row) {
        return number(row, TOTAL) == number(row, SUCCEEDED) + number(row, DEAD) + number(row, CANCELLED);
    }

    private static void end(MongoScope scope, Collection<String> names) {
        Document closed = new Document(FieldNames.ID, FieldNames.in(List.copyOf(names))).append(CLOSED, present());
        for (Document row : scope.docs(MongoScope.BATCHES).list(closed)) {
            if (isWhole(row)) {
                end(scope, row);
            }
        }
    }

    private static void end(MongoScope scope, Document row) {
        long now = scope.now();
        String name = row.getString(FieldNames.ID);
        Document unended = byName(name).append(ENDED, absent());
        boolean first =
                scope.docs(MongoScope.BATCHES).update(unended, Change.none().set(ENDED, now));
        if (first) {
            letGo(scope, FieldNames.number(row, ON_END), now);
        }
        Long onSuccess = FieldNames.number(row, ON_SUCCESS);
        if (number(row, TOTAL) == number(row, SUCCEEDED)
                && scope.docs(MongoScope.BATCHES)
                        .update(
                                byName(name).append(SUCCESS, absent()),
                                Change.none().set(SUCCESS, now))) {
            letGo(scope, onSuccess, now);
        }
        if (number(row, CANCELLED) > 0 && row.get(SUCCESS) == null && onSuccess != null) {
            giveUp(scope, onSuccess);
        }
        Long parent = FieldNames.number(row, PARENT);
        if (parent != null) {
            wake(scope, parent);
        }
    }

    private static Document waiting(long job) {
        return new Document(FieldNames.ID, job)
                .append(FieldNames.STATUS, FieldNames.PENDING)
                .append(FieldNames.WAIT_REASON, WaitReason.BATCH.name());
    }

    /** Makes a job due that waited for a batch. Its deadline begins now. */
    private static void letGo(MongoScope scope, @Nullable Long job, long now) {
        Document there = job == null
                ? null
                : scope.jobs().find(waiting(job)).projection(WAIT).first();
        if (there != null && job != null) {
            Long deadline = FieldNames.number(there, FieldNames.DEADLINE);
            Change change = Change.at(now).set(FieldNames.FIRST_DUE, now).setAll(JobDocs.due(new Document(), now));
            if (deadline != null) {
                change.set(FieldNames.DEADLINE, now + deadline - FieldNames.numberOr(there, FieldNames.FIRST_DUE, now));
            }
            scope.jobs().update(waiting(job), change);
        }
    }

    private static void wake(MongoScope scope, long parent) {
        long now = scope.now();
        Document asleep = waiting(parent).append(FieldNames.DUE, FieldNames.after(now));
        scope.jobs().update(asleep, Change.at(now).setAll(JobDocs.due(new Document(), now)));
    }

    /** Cancels the job for a success that cannot come any more. A job that was let go is due, and stays. */
    private static void giveUp(MongoScope scope, long job) {
        long now = scope.now();
        Document asleep = waiting(job).append(FieldNames.DUE, FieldNames.after(now));
        scope.jobs().update(asleep, MongoEndings.end(Change.at(now), FieldNames.CANCELLED, now));
    }

    Optional<BatchState> find(String name) {
        return mongo.run(
                "find a batch",
                scope -> Optional.ofNullable(scope.docs(MongoScope.BATCHES).first(byName(name)))
                        .map(MongoBatches::read));
    }

    Page<BatchState> page(String prefix, int limit, @Nullable String cursor) {
        return mongo.list("find batches", scope -> {
            // Names are of ASCII; the tilde comes after all their characters.
            Document named = new Document("$gte", prefix).append("$lt", prefix + "~");
            if (cursor != null) {
                named.append("$gt", cursor);
            }
            List<BatchState> found = new ArrayList<>();
            scope.docs(MongoScope.BATCHES)
                    .find(new Document(FieldNames.ID, named).append(PARENT, absent()))
                    .sort(new Document(FieldNames.ID, 1))
                    .limit(limit + 1)
                    .forEach(row -> found.add(read(row)));
            boolean more = found.size() > limit;
            List<BatchState> items = more ? found.subList(0, limit) : found;
            return new Page<>(items, more ? items.get(limit - 1).name() : null);
        });
    }

    Optional<BatchState> close(String name) {
        return mongo.atomically("close a batch", scope -> {
            Document before = scope.docs(MongoScope.BATCHES).first(byName(name));
            if (before == null) {
                return Optional.empty();
            }
            Document open = byName(name).append(CLOSED, absent());
            if (!scope.docs(MongoScope.BATCHES).update(open, Change.none().set(CLOSED, scope.now()))) {
                return Optional.of(read(
                        Objects.requireNonNull(scope.docs(MongoScope.BATCHES).first(byName(name)))));
            }
            end(scope, List.of(name));
            return Optional.of(read(before));
        });
    }

    /** Lets the job for the success go if the batch has ended with dead letters. Returns the batch as it was before. */
    Optional<BatchState> finish(String name, AuditNote note) {
        return mongo.atomically("finish a batch", scope -> {
            Document row = scope.docs(MongoScope.BATCHES).first(byName(name));
            while (row != null && read(row).isFinishable() && !succeeded(scope, row)) {
                row = scope.docs(MongoScope.BATCHES).first(byName(name));
            }
            Optional<BatchState> before = Optional.ofNullable(row).map(MongoBatches::read);
            before.filter(BatchState::isFinishable).ifPresent(batch -> {
                letGo(scope, Objects.requireNonNull(batch.onSuccess()).value(), scope.now());
                String detail = "dead letters: " + batch.dead();
                MongoAudit.subject(scope, scope.now(), "finish-batch", "batch/" + name, note, detail);
            });
            return before;
        });
    }

    /** Returns false if the batch is not as it was read: a caller that put a member back was first. */
    private static boolean succeeded(MongoScope scope, Document row) {
        Document same = byName(row.getString(FieldNames.ID))
                .append(SUCCEEDED, row.get(SUCCEEDED))
                .append(DEAD, row.get(DEAD))
                .append(SUCCESS, absent());
        return scope.docs(MongoScope.BATCHES).update(same, Change.none().set(SUCCESS, scope.now()));
    }

    List<BatchMember> members(String batch, int after, int limit) {
        return mongo.run("find members of a batch", scope -> {
            List<BatchMember> members = new ArrayList<>();
            scope.docs(MongoScope.MEMBERS)
                    .find(new Document(BATCH, batch).append(PLACE, new Document("$gt", after)))
                    .sort(new Document(PLACE, 1))
                    .limit(limit)
                    .forEach(row -> members.add(new BatchMember(
                            FieldNames.integer(row, PLACE),
                            new JobId(FieldNames.numberOr(row, "job", 0)),
                            Objects.requireNonNullElse(
                                    FieldNames.constant(JobState.class, row.get("state"), JobState.FAILED),
                                    JobState.FAILED),
                            FieldNames.text(row, FieldNames.RESULT))));
            return members;
        });
    }

    /** Deletes the joins of deleted jobs. */
    static void forget(MongoScope scope, List<Long> parents) {
        MongoLogs.forget(scope, parents);
        Document of = new Document(PARENT, FieldNames.in(parents));
        if (scope.docs(MongoScope.BATCHES).exists(of)) {
            scope.docs(MongoScope.MEMBERS).deleteAll(of);
            scope.docs(MongoScope.BATCHES).deleteAll(of);
        }
    }

    /**
     * Deletes batches that ended long ago, or that nobody closed, with the jobs that still wait for them. One with an open
     * member stays.
     */
    void forgetOld() {
        mongo.run("look for old batches", scope -> {
            Document before = new Document("$lt", scope.now() - MongoTime.of(BatchState.KEPT));
            forget(scope, new Document(PARENT, absent()).append(ENDED, before));
            forget(
                    scope,
                    new Document(PARENT, absent()).append(CLOSED, absent()).append(CREATED, before));
            return true;
        });
    }

    private void forget(MongoScope old, Document which) {
        for (Document row : old.docs(MongoScope.BATCHES).find(which)) {
            if (isWhole(row)) {
                mongo.atomically("forget a batch", scope -> forgetRow(scope, row));
            }
        }
    }

    private static boolean forgetRow(MongoScope scope, Document row) {
        // As it was read: who added a member or put one back, closed it or finished it meanwhile was first.
        Document same = byName(row.getString(FieldNames.ID))
                .append(TOTAL, row.get(TOTAL))
                .append(DEAD, row.get(DEAD))
                .append(CLOSED, row.get(CLOSED) == null ? absent() : row.get(CLOSED))
                .append(SUCCESS, row.get(SUCCESS) == null ? absent() : row.get(SUCCESS));
        boolean gone = scope.docs(MongoScope.BATCHES).delete(same);
        if (gone) {
            giveUpUnless(scope, row, SUCCESS, ON_SUCCESS);
            giveUpUnless(scope, row, ENDED, ON_END);
        }
        return gone;
    }

    private static void giveUpUnless(MongoScope scope, Document row, String came, String follower) {
        Long job = FieldNames.number(row, follower);
        if (job != null && row.get(came) == null) {
            giveUp(scope, job);
        }
    }

    private static BatchState read(Document row) {
        Long onSuccess = FieldNames.number(row, ON_SUCCESS);
        Long onEnd = FieldNames.number(row, ON_END);
        return new BatchState(
                row.getString(FieldNames.ID),
                number(row, TOTAL),
                number(row, SUCCEEDED),
                number(row, DEAD),
                number(row, CANCELLED),
                MongoTime.instant(number(row, CREATED)),
                MongoTime.instantOrNull(FieldNames.number(row, CLOSED)),
                MongoTime.instantOrNull(FieldNames.number(row, ENDED)),
                MongoTime.instantOrNull(FieldNames.number(row, SUCCESS)),
                onSuccess == null ? null : new JobId(onSuccess),
                onEnd == null ? null : new JobId(onEnd));
    }
}
