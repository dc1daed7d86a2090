// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.client.model.UpdateOneModel;
import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.JobState;
import io.reprise.store.Cancellation;
import io.reprise.store.Note;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.bson.Document;
import org.bson.types.ObjectId;

/** Cancels and discards jobs for people, and prunes old jobs for retention. */
final class ByHand {

    private static final Document STATUS_ONLY = new Document(Fields.STATUS, 1);

    private final Mongo mongo;
    private final JobDocs jobDocs;
    private final Sequels sequels;

    ByHand(Mongo mongo, JobDocs jobDocs, Sequels sequels) {
        this.mongo = mongo;
        this.jobDocs = jobDocs;
        this.sequels = sequels;
    }

    Cancellation cancel(JobId id, Note note, List<JobSpec> following) {
        return Inserts.untilNotOvertaken(() -> mongo.atomically("cancel a job", scope -> {
            Cancellation answer = decide(scope, id, note, following);
            if (answer == Cancellation.DONE) {
                sequels.follow(scope, Map.of(id.value(), following));
            }
            return answer;
        }));
    }

    /** Cancels waiting jobs in one step, and the others one by one. */
    Map<JobId, Cancellation> cancelAll(Collection<JobId> ids, Note note, Function<Job, List<JobSpec>> rule) {
        Map<JobId, Cancellation> answers = new HashMap<>();
        Inserts.untilNotOvertaken(() -> mongo.atomically("cancel jobs", scope -> cancelWaiting(scope, ids, note, rule)))
                .forEach(id -> answers.put(id, Cancellation.DONE));
        for (JobId id : ids) {
            if (!answers.containsKey(id)) {
                List<JobSpec> following = mongo.run(
                        "look for a job",
                        scope -> jobDocs
                                .read(scope.jobs()
                                        .find(JobDocs.byId(id).append(Fields.STATUS, Fields.PENDING))
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
            Scope scope, Collection<JobId> ids, Note note, Function<Job, List<JobSpec>> rule) {
        long now = scope.now();
        ObjectId mark = new ObjectId();
        List<Long> numbers = ids.stream().map(JobId::value).toList();
        Map<Long, List<JobSpec>> following = new HashMap<>();
        List<UpdateOneModel<Document>> models = new ArrayList<>();
        for (Job job : jobDocs.read(scope.jobs()
                .find(JobDocs.byIds(numbers).append(Fields.STATUS, Fields.PENDING))
                .projection(JobDocs.WITHOUT_HISTORY))) {
            List<JobSpec> specs = rule.apply(job);
            Change change = Endings.end(Change.at(now).set(Fields.MARK, mark), Fields.CANCELLED, now);
            sequels.attach(scope, change, specs);
            following.put(job.id().value(), specs);
            models.add(
                    new UpdateOneModel<>(JobDocs.byId(job.id()).append(Fields.STATUS, Fields.PENDING), change.build()));
        }
        if (models.isEmpty()) {
            return List.of();
        }
        boolean all = scope.jobs().bulk(models).getMatchedCount() == models.size();
        List<Long> done = all
                ? List.copyOf(following.keySet())
                : Queries.ids(scope.jobs().find(JobDocs.byIds(numbers).append(Fields.MARK, mark)));
        following.keySet().retainAll(done);
        sequels.follow(scope, following);
        return noted(scope, now, "cancel", done, note);
    }

    private static List<JobId> noted(Scope scope, long now, String action, List<Long> ids, Note note) {
        Map<JobId, String> actions = new LinkedHashMap<>();
        ids.forEach(id -> actions.put(new JobId(id), action));
        Audit.jobs(scope, now, note, actions, id -> null);
        return List.copyOf(actions.keySet());
    }

    private Cancellation decide(Scope scope, JobId id, Note note, List<JobSpec> following) {
        long now = scope.now();
        // A job may be claimed and given back between read and update, so the loop tries again. That
        // does not go on without end.
        while (true) {
            Document job = DeadLetters.find(scope, id, STATUS_ONLY);
            if (job == null) {
                return Cancellation.MISSING;
            }
            JobState state = JobDocs.stateOf(job);
            if (state.isTerminal()) {
                return Cancellation.TOO_LATE;
            }
            boolean running = state == JobState.RUNNING;
            Change change = running
                    ? Change.at(now).set(Fields.CANCEL_REQUESTED, true)
                    : Endings.end(Change.at(now), Fields.CANCELLED, now);
            if (!running) {
                sequels.attach(scope, change, following);
            }
            if (scope.jobs().update(JobDocs.byId(id).append(Fields.STATUS, Fields.status(state)), change)) {
                Audit.job(scope, now, "cancel", id, note, null);
                return running ? Cancellation.REQUESTED : Cancellation.DONE;
            }
        }
    }

    boolean discard(JobId id, Note note) {
        return mongo.atomically("discard a job", scope -> {
            boolean gone = discard(scope, id);
            if (gone) {
                Audit.job(scope, scope.now(), "discard", id, note, null);
            }
            return gone;
        });
    }

    /** Discards jobs in one step, unless dead letters have a collection of their own and there are no transactions. */
    Set<JobId> discardAll(Collection<JobId> ids, Note note) {
        if (mongo.movesDeadLetters()) {
            return mongo.hasTransactions()
                    ? mongo.atomically("discard jobs", scope -> discardInBoth(scope, ids, note))
                    : ids.stream().filter(id -> discard(id, note)).collect(Collectors.toSet());
        }
        return mongo.atomically("discard jobs", scope -> {
            List<Long> numbers = ids.stream().map(JobId::value).toList();
            Document ended = JobDocs.byIds(numbers).append(Fields.STATUS, Fields.in(Fields.ENDED));
            ObjectId mark = new ObjectId();
            scope.jobs().updateAll(ended, Change.none().set(Fields.MARK, mark));
            List<Long> mine = Queries.ids(scope.jobs().find(new Document(ended).append(Fields.MARK, mark)));
            if (mine.isEmpty()) {
                return Set.of();
            }
            long gone = scope.jobs()
                    .deleteAll(JobDocs.byIds(mine)
                            .append(Fields.STATUS, Fields.in(Fields.ENDED))
                            .append(Fields.MARK, mark));
            // Without a transaction another caller may have deleted some of them.
            List<Long> left =
                    gone == mine.size() ? List.of() : Queries.ids(scope.jobs().find(JobDocs.byIds(mine)));
            List<Long> discarded =
                    mine.stream().filter(id -> !left.contains(id)).toList();
            return Set.copyOf(noted(scope, scope.now(), "discard", discarded, note));
        });
    }

    /** Discards jobs of both collections. In a transaction each job is in one of them. */
    private static Set<JobId> discardInBoth(Scope scope, Collection<JobId> ids, Note note) {
        Document ended =
                JobDocs.byIds(ids.stream().map(JobId::value).toList()).append(Fields.STATUS, Fields.in(Fields.ENDED));
        List<Long> gone = new ArrayList<>();
        for (Docs place : List.of(scope.jobs(), scope.dead())) {
            List<Long> found = Queries.ids(place.find(ended));
            if (!found.isEmpty()) {
                place.deleteAll(JobDocs.byIds(found));
                gone.addAll(found);
            }
        }
        return Set.copyOf(noted(scope, scope.now(), "discard", gone, note));
    }

    private static boolean discard(Scope scope, JobId id) {
        Document ended = JobDocs.byId(id).append(Fields.STATUS, Fields.in(Fields.ENDED));
        if (!scope.hasDead()) {
            return scope.jobs().delete(ended);
        }
        if (scope.jobs().exists(JobDocs.byId(id).append(Fields.STATUS, new Document("$nin", Fields.ENDED)))) {
            return false;
        }
        // Deletes the moved copy first: a copy does not count while the job is in the jobs collection.
        boolean moved = scope.dead().delete(JobDocs.byId(id));
        return scope.jobs().delete(ended) || moved;
    }

    int prune(Set<JobState> states, Duration age, int limit) {
        return mongo.look("prune jobs", scope -> {
            Document old = new Document(
                            Fields.STATUS,
                            Fields.in(states.stream()
                                    .filter(JobState::isTerminal)
                                    .map(Fields::status)
                                    .toList()))
                    .append(Fields.FINISHED, new Document("$lt", scope.now() - Micros.of(age)));
            int letters = scope.hasDead() && states.contains(JobState.FAILED) ? prune(scope.dead(), old, limit) : 0;
            return letters == limit ? letters : letters + prune(scope.jobs(), old, limit - letters);
        });
    }

    private static int prune(Docs docs, Document old, int limit) {
        List<Long> ids = Queries.ids(
                docs.find(old).sort(new Document(Fields.FINISHED, 1)).limit(limit));
        return ids.isEmpty() ? 0 : (int) docs.deleteAll(new Document(old).append(Fields.ID, Fields.in(ids)));
    }
}
