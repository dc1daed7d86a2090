// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.JobState;
import io.reprise.store.Cancellation;
import io.reprise.store.Note;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.bson.Document;

/** What people do to single jobs, and what retention does to old ones. */
final class ByHand {

    private static final Document STATUS_ONLY = new Document(Fields.STATUS, 1);

    private final Mongo mongo;
    private final Sequels sequels;

    ByHand(Mongo mongo, Sequels sequels) {
        this.mongo = mongo;
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

    private Cancellation decide(Scope scope, JobId id, Note note, List<JobSpec> following) {
        long now = scope.now();
        // A job may be claimed and given back between two looks, but not for ever.
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

    private static boolean discard(Scope scope, JobId id) {
        Document ended = JobDocs.byId(id).append(Fields.STATUS, Fields.in(Fields.ENDED));
        if (!scope.hasDead()) {
            return scope.jobs().delete(ended);
        }
        if (scope.jobs().exists(JobDocs.byId(id).append(Fields.STATUS, new Document("$nin", Fields.ENDED)))) {
            return false;
        }
        // The copy first: as long as there is one among the jobs, it does not count.
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
