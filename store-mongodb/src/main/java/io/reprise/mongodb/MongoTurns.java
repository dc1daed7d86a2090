// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.MongoException;
import com.mongodb.client.model.UpdateOneModel;
import io.reprise.job.JobSpec;
import io.reprise.job.WaitReason;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoErrors;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoTime;
import io.reprise.store.Lane;
import io.reprise.store.Turns;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.bson.Document;

/**
 * Gives delayed jobs and retries of groups their turns, and puts retries in line with fresh jobs. The indexes {@code late}
 * and {@code ready} find them.
 */
final class MongoTurns {

    private static final Document READ = new Document(FieldNames.GROUP, 1).append(FieldNames.LATE, 1);

    private static final Document PLACE =
            new Document(FieldNames.GROUP, 1).append(FieldNames.DUE, 1).append(FieldNames.FIRST_DUE, 1);

    private static final List<Integer> PRIORITIES = IntStream.rangeClosed(JobSpec.MIN_PRIORITY, JobSpec.MAX_PRIORITY)
            .boxed()
            .toList();

    /** How many keys one query looks for. */
    private static final int TOGETHER = 1_000;

    private final JobDocs docs = new JobDocs();
    private final Mongo mongo;

    MongoTurns(Mongo mongo) {
        this.mongo = mongo;
    }

    /** Lets jobs go that waited for the end of the one that held their key. */
    int letFollow(int limit) {
        if (!mongo.hasKeys()) {
            return 0;
        }
        return mongo.run("let jobs follow", scope -> {
            Document waiting = new Document(FieldNames.WAIT_REASON, WaitReason.FOLLOW.name())
                    .append(FieldNames.STATUS, FieldNames.PENDING);
            List<Document> all = scope.jobs()
                    .find(waiting)
                    .projection(new Document(FieldNames.HELD_KEY, 1))
                    .into(new ArrayList<>());
            int freed = 0;
            for (int from = 0; from < all.size() && freed < limit; from += TOGETHER) {
                List<Document> some = all.subList(from, Math.min(all.size(), from + TOGETHER));
                freed += letFollow(scope, some, limit - freed);
            }
            return freed;
        });
    }

    private int letFollow(MongoScope scope, List<Document> waiting, int limit) {
        Set<String> held = new HashSet<>();
        scope.jobs()
                .find(new Document(
                        FieldNames.HELD_KEY,
                        FieldNames.in(waiting.stream().map(MongoTurns::followed).toList())))
                .projection(new Document(FieldNames.HELD_KEY, 1))
                .forEach(job -> held.add(job.getString(FieldNames.HELD_KEY)));
        int freed = 0;
        for (Document job : waiting) {
            if (freed < limit && !held.contains(followed(job)) && letGo(scope, job)) {
                freed++;
            }
        }
        return freed;
    }

    /** Returns the key that a waiting job is to have. */
    private static String followed(Document job) {
        String held = job.getString(FieldNames.HELD_KEY);
        return held.substring(0, held.length() - JobSpec.FOLLOWING.length());
    }

    private boolean letGo(MongoScope scope, Document job) {
        Document same = new Document(FieldNames.ID, JobDocs.idOf(job))
                .append(FieldNames.STATUS, FieldNames.PENDING)
                .append(FieldNames.HELD_KEY, job.get(FieldNames.HELD_KEY));
        Document read =
                scope.jobs().find(same).projection(JobDocs.WITHOUT_HISTORY).first();
        if (read == null) {
            return false;
        }
        // A caller that replaces the job sets another time.
        same.append(FieldNames.DUE, read.get(FieldNames.DUE));
        long now = scope.now();
        try {
            JobSpec spec = docs.specs().read(read).spec();
            return scope.jobs().update(same, Change.at(now).setAll(JobDocs.following(spec, followed(job), now)));
        } catch (MongoException e) {
            if (MongoErrors.isDuplicate(e)) {
                // Another job has the key now. This one waits for its end.
                return false;
            }
            throw e;
        }
    }

    int give(Duration waited, int limit) {
        return mongo.run("give jobs their turns", scope -> {
            Document late = new Document(FieldNames.PARKED, false)
                    .append(FieldNames.LATE, FieldNames.upTo(scope.now() - MongoTime.of(waited)))
                    .append(FieldNames.STATUS, FieldNames.PENDING);
            List<UpdateOneModel<Document>> changes = new ArrayList<>();
            for (Document job : scope.jobs()
                    .find(late)
                    .sort(new Document(FieldNames.LATE, 1))
                    .limit(limit)
                    .projection(READ)) {
                // A job that was claimed or has failed since has another time or status.
                Document same = new Document(FieldNames.ID, JobDocs.idOf(job))
                        .append(FieldNames.STATUS, FieldNames.PENDING)
                        .append(FieldNames.PARKED, false)
                        .append(FieldNames.LATE, job.get(FieldNames.LATE));
                Change change = Change.none()
                        .set(FieldNames.TURN, job.get(FieldNames.GROUP))
                        .set(FieldNames.LATE, null);
                changes.add(new UpdateOneModel<>(same, change.build()));
            }
            return changes.isEmpty() ? 0 : scope.jobs().bulk(changes).getModifiedCount();
        });
    }

    int lineUp(String queue, boolean byCreation, int limit) {
        return mongo.run("line up retries", scope -> {
            Document due = new Document(FieldNames.QUEUE, queue)
                    .append(FieldNames.PARKED, false)
                    .append(FieldNames.LANE, FieldNames.lane(Lane.RETRY))
                    .append(FieldNames.PRIORITY, FieldNames.in(PRIORITIES))
                    .append(FieldNames.DUE, FieldNames.upTo(scope.now()))
                    .append(FieldNames.STATUS, FieldNames.PENDING);
            List<UpdateOneModel<Document>> changes = new ArrayList<>();
            // In the lane of retries a job has a turn of its own only if it was due already.
            for (Document turn : List.of(new Document("$eq", Turns.NONE), new Document("$gt", Turns.NONE))) {
                if (changes.size() < limit) {
                    scope.jobs()
                            .find(new Document(due).append(FieldNames.TURN, turn))
                            .limit(limit - changes.size())
                            .projection(PLACE)
                            .forEach(job -> changes.add(linedUp(job, byCreation)));
                }
            }
            return changes.isEmpty() ? 0 : scope.jobs().bulk(changes).getModifiedCount();
        });
    }

    private static UpdateOneModel<Document> linedUp(Document job, boolean byCreation) {
        long dueAt = FieldNames.numberOr(job, FieldNames.DUE, 0);
        long first = FieldNames.numberOr(job, FieldNames.FIRST_DUE, dueAt);
        Change change = Change.none().set(FieldNames.LANE, FieldNames.lane(Lane.FRESH));
        if (byCreation && first < dueAt) {
            change.setAll(JobDocs.due(new Document(), first))
                    .set(FieldNames.TURN, Objects.requireNonNullElse(job.get(FieldNames.GROUP), Turns.NONE))
                    .set(FieldNames.LATE, null);
        }
        // A job that was claimed or has failed since has another time, lane or status.
        Document same = new Document(FieldNames.ID, JobDocs.idOf(job))
                .append(FieldNames.STATUS, FieldNames.PENDING)
                .append(FieldNames.PARKED, false)
                .append(FieldNames.LANE, FieldNames.lane(Lane.RETRY))
                .append(FieldNames.DUE, dueAt);
        return new UpdateOneModel<>(same, change.build());
    }
}
