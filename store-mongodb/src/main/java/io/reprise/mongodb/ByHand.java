// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.JobState;
import io.reprise.store.Cancellation;
import io.reprise.store.Note;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.bson.Document;

/** What people do to single jobs, and what retention does to old ones. */
final class ByHand {

    private static final Document STATUS_ONLY = new Document(Fields.STATUS, 1);

    private final Mongo mongo;
    private final Inserts inserts;

    ByHand(Mongo mongo, Inserts inserts) {
        this.mongo = mongo;
        this.inserts = inserts;
    }

    Cancellation cancel(JobId id, Note note, List<JobSpec> sequels) {
        return Inserts.untilNotOvertaken(() -> mongo.atomically("cancel a job", scope -> {
            Cancellation answer = cancel(scope, id, note);
            if (answer == Cancellation.DONE) {
                inserts.follow(scope, sequels);
            }
            return answer;
        }));
    }

    private static Cancellation cancel(Scope scope, JobId id, Note note) {
        long now = scope.now();
        // A job may be claimed and given back between two looks, but not for ever.
        while (true) {
            Document job =
                    scope.jobs().find(JobDocs.byId(id)).projection(STATUS_ONLY).first();
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
            if (scope.jobs().update(JobDocs.byId(id).append(Fields.STATUS, Fields.status(state)), change)) {
                Audit.job(scope, now, "cancel", id, note, null);
                return running ? Cancellation.REQUESTED : Cancellation.DONE;
            }
        }
    }

    boolean discard(JobId id, Note note) {
        return mongo.atomically("discard a job", scope -> {
            boolean gone = scope.jobs().delete(JobDocs.byId(id).append(Fields.STATUS, Fields.in(Fields.ENDED)));
            if (gone) {
                Audit.job(scope, scope.now(), "discard", id, note, null);
            }
            return gone;
        });
    }

    int prune(Set<JobState> states, Duration age, int limit) {
        return mongo.run("prune jobs", scope -> {
            Document old = new Document(
                            Fields.STATUS,
                            Fields.in(states.stream()
                                    .filter(JobState::isTerminal)
                                    .map(Fields::status)
                                    .toList()))
                    .append(Fields.FINISHED, new Document("$lt", scope.now() - Micros.of(age)));
            List<Long> ids = Queries.ids(scope.jobs()
                    .find(old)
                    .sort(new Document(Fields.FINISHED, 1))
                    .limit(limit));
            return ids.isEmpty()
                    ? 0
                    : (int) scope.jobs().deleteAll(new Document(old).append(Fields.ID, Fields.in(ids)));
        });
    }
}
