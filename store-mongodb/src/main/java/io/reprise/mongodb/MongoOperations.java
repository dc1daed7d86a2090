// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.client.model.UpdateOneModel;
import io.reprise.batch.BatchTally;
import io.reprise.batch.Membership;
import io.reprise.job.AuditNote;
import io.reprise.job.Cancellation;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.Docs;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoAudit;
import io.reprise.mongodb.docs.MongoEndings;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoTime;
import io.reprise.mongodb.docs.SpecDocs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.bson.Document;
import org.bson.types.ObjectId;

/** Cancels and discards jobs for people, and prunes old jobs for retention. */
final class MongoOperations {

    private static final Document OF_A_CANCELLATION = new Document(FieldNames.STATUS, 1).append(FieldNames.BATCH, 1);

    private final Mongo mongo;
    private final JobDocs jobDocs;
    private final MongoFollowUps followUps;

    MongoOperations(Mongo mongo, JobDocs jobDocs, MongoFollowUps followUps) {
        this.mongo = mongo;
        this.jobDocs = jobDocs;
        this.followUps = followUps;
    }

    Cancellation cancel(JobId id, AuditNote note, List<JobSpec> following) {
        return MongoInserts.untilNotOvertaken(() -> mongo.atomically("cancel a job", scope -> {
            Cancellation answer = decide(scope, id, note, following);
            if (answer == Cancellation.DONE) {
                followUps.follow(scope, Map.of(id.value(), following));
            }
            return answer;
        }));
    }

    /** Cancels waiting jobs in one step, and the others one by one. */
    Map<JobId, Cancellation> cancelAll(Collection<JobId> ids, AuditNote note, Function<Job, List<JobSpec>> rule) {
        Map<JobId, Cancellation> answers = new HashMap<>();
        MongoInserts.untilNotOvertaken(
                        () -> mongo.atomically("cancel jobs", scope -> cancelWaiting(scope, ids, note, rule)))
                .forEach(id -> answers.put(id, Cancellation.DONE));
        for (JobId id : ids) {
            if (!answers.containsKey(id)) {
                List<JobSpec> following = mongo.run(
                        "look for a job",
                        scope -> jobDocs
                                .read(scope.jobs()
                                        .find(JobDocs.byId(id).append(FieldNames.STATUS, FieldNames.PENDING))
                                        .projection(JobDocs.WITHOUT_HISTORY))
                                .stream()
                                .flatMap(job -> rule.apply(job).stream())
                                .toList());
                answers.put(id, cancel(id, note, following));
            }
        }
        return answers;
    }

    private List<JobId> cancelWaiting(
            MongoScope scope, Collection<JobId> ids, AuditNote note, Function<Job, List<JobSpec>> rule) {
        long now = scope.now();
        ObjectId mark = new ObjectId();
        List<Long> numbers = ids.stream().map(JobId::value).toList();
        Map<Long, List<JobSpec>> following = new HashMap<>();
        Map<Long, Membership> members = new HashMap<>();
        List<UpdateOneModel<Document>> models = new ArrayList<>();
        for (Job job : jobDocs.read(scope.jobs()
                .find(JobDocs.byIds(numbers).append(FieldNames.STATUS, FieldNames.PENDING))
                .projection(JobDocs.WITHOUT_HISTORY))) {
            List<JobSpec> specs = rule.apply(job);
            Change change = MongoEndings.end(Change.at(now).set(FieldNames.MARK, mark), FieldNames.CANCELLED, now);
            followUps.attach(scope, change, specs);
            following.put(job.id().value(), specs);
            Membership member = Membership.in(job.spec());
            if (member != null) {
                members.put(job.id().value(), member);
            }
            models.add(new UpdateOneModel<>(
                    JobDocs.byId(job.id()).append(FieldNames.STATUS, FieldNames.PENDING), change.build()));
        }
        if (models.isEmpty()) {
            return List.of();
        }
        boolean all = scope.jobs().bulk(models).getMatchedCount() == models.size();
        List<Long> done = all
                ? List.copyOf(following.keySet())
                : MongoQueries.ids(scope.jobs().find(JobDocs.byIds(numbers).append(FieldNames.MARK, mark)));
        following.keySet().retainAll(done);
        followUps.follow(scope, following);
        BatchTally tally = new BatchTally();
        done.forEach(id -> tally.ended(members.get(id), new JobId(id), JobState.CANCELLED, null));
        MongoBatches.count(scope, tally);
        return noted(scope, now, "cancel", done, note);
    }

    private static List<JobId> noted(MongoScope scope, long now, String action, List<Long> ids, AuditNote note) {
        Map<JobId, String> actions = new LinkedHashMap<>();
        ids.forEach(id -> actions.put(new JobId(id), action));
        MongoAudit.jobs(scope, now, note, actions, id -> null);
        return List.copyOf(actions.keySet());
    }

    private Cancellation decide(MongoScope scope, JobId id, AuditNote note, List<JobSpec> following) {
        long now = scope.now();
        // A job may be claimed and given back between read and update, so the loop tries again. That
        // does not go on without end.
        while (true) {
            Document job = DeadLetters.find(scope, id, OF_A_CANCELLATION);
            if (job == null) {
                return Cancellation.MISSING;
            }
            JobState state = JobDocs.stateOf(job);
            if (state.isTerminal()) {
                return Cancellation.TOO_LATE;
            }
            boolean running = state == JobState.RUNNING;
            Change change = running
                    ? Change.at(now).set(FieldNames.CANCEL_REQUESTED, true)
                    : MongoEndings.end(Change.at(now), FieldNames.CANCELLED, now);
            if (!running) {
                followUps.attach(scope, change, following);
            }
            if (scope.jobs().update(JobDocs.byId(id).append(FieldNames.STATUS, FieldNames.status(state)), change)) {
                MongoAudit.job(scope, now, "cancel", id, note, null);
                if (!running) {
                    BatchTally tally = new BatchTally();
                    tally.ended(SpecDocs.member(job), id, JobState.CANCELLED, null);
                    MongoBatches.count(scope, tally);
                }
                return running ? Cancellation.REQUESTED : Cancellation.DONE;
            }
        }
    }

    boolean discard(JobId id, AuditNote note) {
        return mongo.atomically("discard a job", scope -> {
            boolean gone = discard(scope, id);
            if (gone) {
                MongoBatches.forget(scope, List.of(id.value()));
                MongoAudit.job(scope, scope.now(), "discard", id, note, null);
            }
            return gone;
        });
    }

    /** Discards jobs in one step, unless dead letters have a collection of their own and there are no transactions. */
    Set<JobId> discardAll(Collection<JobId> ids, AuditNote note) {
        if (mongo.movesDeadLetters()) {
            return mongo.hasTransactions()
                    ? mongo.atomically("discard jobs", scope -> discardInBoth(scope, ids, note))
                    : ids.stream().filter(id -> discard(id, note)).collect(Collectors.toSet());
        }
        return mongo.atomically("discard jobs", scope -> {
            List<Long> numbers = ids.stream().map(JobId::value).toList();
            Document ended = JobDocs.byIds(numbers).append(FieldNames.STATUS, FieldNames.in(FieldNames.ENDED));
            ObjectId mark = new ObjectId();
            scope.jobs().updateAll(ended, Change.none().set(FieldNames.MARK, mark));
            List<Long> mine = MongoQueries.ids(scope.jobs().find(new Document(ended).append(FieldNames.MARK, mark)));
            if (mine.isEmpty()) {
                return Set.of();
            }
            long gone = scope.jobs()
                    .deleteAll(JobDocs.byIds(mine)
                            .append(FieldNames.STATUS, FieldNames.in(FieldNames.ENDED))
                            .append(FieldNames.MARK, mark));
            // Without a transaction another caller may have deleted some of them.
            List<Long> left = gone == mine.size()
                    ? List.of()
                    : MongoQueries.ids(scope.jobs().find(JobDocs.byIds(mine)));
            List<Long> discarded =
                    mine.stream().filter(id -> !left.contains(id)).toList();
            MongoBatches.forget(scope, discarded);
            return Set.copyOf(noted(scope, scope.now(), "discard", discarded, note));
        });
    }

    /** Discards jobs of both collections. In a transaction each job is in one of them. */
    private static Set<JobId> discardInBoth(MongoScope scope, Collection<JobId> ids, AuditNote note) {
        Document ended = JobDocs.byIds(ids.stream().map(JobId::value).toList())
                .append(FieldNames.STATUS, FieldNames.in(FieldNames.ENDED));
        List<Long> gone = new ArrayList<>();
        for (Docs place : List.of(scope.jobs(), scope.dead())) {
            List<Long> found = MongoQueries.ids(place.find(ended));
            if (!found.isEmpty()) {
                place.deleteAll(JobDocs.byIds(found));
                gone.addAll(found);
            }
        }
        MongoBatches.forget(scope, gone);
        return Set.copyOf(noted(scope, scope.now(), "discard", gone, note));
    }

    private static boolean discard(MongoScope scope, JobId id) {
        Document ended = JobDocs.byId(id).append(FieldNames.STATUS, FieldNames.in(FieldNames.ENDED));
        if (!scope.hasDead()) {
            return scope.jobs().delete(ended);
        }
        if (scope.jobs().exists(JobDocs.byId(id).append(FieldNames.STATUS, new Document("$nin", FieldNames.ENDED)))) {
            return false;
        }
        // Deletes the moved copy first: a copy does not count while the job is in the jobs collection.
        boolean moved = scope.dead().delete(JobDocs.byId(id));
        return scope.jobs().delete(ended) || moved;
    }

    int prune(Set<JobState> states, Duration age, int limit) {
        return mongo.look("prune jobs", scope -> {
            Document old = new Document(
                            FieldNames.STATUS,
                            FieldNames.in(states.stream()
                                    .filter(JobState::isTerminal)
                                    .map(FieldNames::status)
                                    .toList()))
                    .append(FieldNames.FINISHED, new Document("$lt", scope.now() - MongoTime.of(age)));
            int letters =
                    scope.hasDead() && states.contains(JobState.FAILED) ? prune(scope, scope.dead(), old, limit) : 0;
            return letters == limit ? letters : letters + prune(scope, scope.jobs(), old, limit - letters);
        });
    }

    private static int prune(MongoScope scope, Docs docs, Document old, int limit) {
        List<Long> ids = MongoQueries.ids(
                docs.find(old).sort(new Document(FieldNames.FINISHED, 1)).limit(limit));
        if (ids.isEmpty()) {
            return 0;
        }
        int gone = (int) docs.deleteAll(new Document(old).append(FieldNames.ID, FieldNames.in(ids)));
        // A dead letter that a person put back meanwhile keeps its log and its joins.
        Set<Long> left = new HashSet<>();
        if (gone < ids.size()) {
            DeadLetters.findAll(scope, ids, JobDocs.ID_ONLY).forEach(job -> left.add(JobDocs.idOf(job)));
        }
        MongoBatches.forget(scope, ids.stream().filter(id -> !left.contains(id)).toList());
        return gone;
    }
}
