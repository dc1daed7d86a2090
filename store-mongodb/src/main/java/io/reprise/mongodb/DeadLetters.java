// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.ReplaceOptions;
import io.reprise.job.JobId;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.Docs;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoErrors;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.store.StoreException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps dead letters in a collection of their own, if configured. One update in the jobs collection makes a job a dead
 * letter; it is moved afterwards. To replay a dead letter, it is first moved back. Each return increments {@code life},
 * so that a late move of an older life has no effect.
 *
 * <p>With transactions a move is one transaction. Without them the copy is written first and the original
 * deleted last. A copy counts only if the jobs collection has no job of its id. {@link #tidy} completes moves
 * that a crash interrupted.
 */
final class DeadLetters {

    private static final Logger log = LoggerFactory.getLogger(DeadLetters.class);
    private static final int BATCH = 200;
    private static final int MOST_SHADOWS = 10_000;
    private static final ReplaceOptions UPSERT = new ReplaceOptions().upsert(true);

    private static final Document DEAD = new Document(FieldNames.STATUS, FieldNames.FAILED);
    /**
     * A job with follow-up jobs that are not stored yet stays in the jobs collection, where {@link MongoFollowUps#tidy} looks.
     */
    private static final Document FREE = new Document(DEAD).append(FieldNames.OWES, null);

    private static final Document UNFINISHED = new Document(FieldNames.MOVING, true);

    private final Mongo mongo;

    DeadLetters(Mongo mongo) {
        this.mongo = mongo;
    }

    /**
     * Moves those of these jobs that are dead. If it fails, the next {@link #tidy} moves them; their
     * outcome is already written.
     */
    void move(Collection<Long> ids) {
        if (mongo.movesDeadLetters() && !ids.isEmpty()) {
            try {
                moveNow(List.copyOf(ids));
            } catch (StoreException e) {
                log.warn("Dead letters {} stay among the jobs until the next upkeep: {}", ids, e.getMessage());
            }
        }
    }

    /** Moves dead letters that are not moved yet, and completes moves that a crash interrupted. */
    void tidy() {
        if (!mongo.movesDeadLetters()) {
            return;
        }
        if (!mongo.hasTransactions()) {
            mongo.run("end moves of dead letters", scope -> {
                scope.dead().list(UNFINISHED).forEach(letter -> end(scope, letter));
                return true;
            });
        }
        List<Long> ids;
        do {
            ids = mongo.run(
                    "find dead letters",
                    scope -> MongoQueries.ids(scope.jobs().find(FREE).limit(BATCH)));
            if (!ids.isEmpty()) {
                moveNow(ids);
            }
        } while (ids.size() == BATCH);
    }

    private void moveNow(List<Long> ids) {
        mongo.atomically("move dead letters", scope -> {
            List<Document> letters = scope.jobs().list(new Document(FREE).append(FieldNames.ID, FieldNames.in(ids)));
            if (!letters.isEmpty()) {
                copy(scope, letters);
                letters.forEach(letter -> end(scope, letter));
            }
            return true;
        });
    }

    /** Writes the copies. A copy replaces an older life, never a newer one. */
    private static void copy(MongoScope scope, List<Document> letters) {
        List<ReplaceOneModel<Document>> models = new ArrayList<>();
        for (Document letter : letters) {
            Document older = new Document(FieldNames.ID, JobDocs.idOf(letter))
                    .append(FieldNames.LIFE, new Document("$not", FieldNames.after(life(letter))));
            Document copy = new Document(letter);
            if (!scope.isTransaction()) {
                copy.append(FieldNames.MOVING, true);
            }
            models.add(new ReplaceOneModel<>(older, copy, UPSERT));
        }
        try {
            scope.dead().bulk(models);
        } catch (MongoBulkWriteException e) {
            if (scope.isTransaction() || !MongoErrors.isDuplicate(e)) {
                throw e;
            }
            // A newer life is already there.
        }
    }

    /** Deletes the original of a copy, or the copy if the job was put back. */
    private static void end(MongoScope scope, Document letter) {
        long id = JobDocs.idOf(letter);
        Document original = new Document(FieldNames.ID, id)
                .append(FieldNames.STATUS, FieldNames.FAILED)
                .append(FieldNames.LIFE, letter.get(FieldNames.LIFE));
        boolean gone = scope.jobs().delete(original) || !scope.jobs().exists(new Document(FieldNames.ID, id));
        if (!scope.isTransaction()) {
            Document copy = new Document(FieldNames.ID, id)
                    .append(FieldNames.LIFE, letter.get(FieldNames.LIFE))
                    .append(FieldNames.MOVING, true);
            if (gone) {
                scope.dead().update(copy, Change.none().remove(FieldNames.MOVING));
            } else {
                scope.dead().delete(copy);
            }
        }
    }

    private static long life(Document letter) {
        return FieldNames.numberOr(letter, FieldNames.LIFE, 0);
    }

    /**
     * Moves a dead letter back to the jobs collection, still FAILED, with the next life. Returns null if there is none.
     */
    @Nullable
    Document bringBack(MongoScope scope, JobId id) {
        Document letter = mongo.movesDeadLetters() ? scope.dead().first(JobDocs.byId(id)) : null;
        if (letter == null) {
            return null;
        }
        Document job = new Document(letter).append(FieldNames.LIFE, life(letter) + 1);
        job.remove(FieldNames.MOVING);
        if (!scope.isTransaction()) {
            scope.dead().update(JobDocs.byId(id), Change.none().set(FieldNames.MOVING, true));
        }
        scope.jobs().insert(job);
        scope.dead().delete(JobDocs.byId(id).append(FieldNames.LIFE, letter.get(FieldNames.LIFE)));
        return job;
    }

    /**
     * Moves many dead letters back in a few calls. Without transactions another caller may do the same: a job that is
     * already in the jobs collection stays unchanged.
     */
    void bringBackAll(MongoScope scope, Document letters) {
        if (!mongo.movesDeadLetters()) {
            return;
        }
        List<Document> found = counted(scope, scope.dead().list(letters));
        if (found.isEmpty()) {
            return;
        }
        List<Long> ids = found.stream().map(JobDocs::idOf).toList();
        if (!scope.isTransaction()) {
            scope.dead().updateAll(JobDocs.byIds(ids), Change.none().set(FieldNames.MOVING, true));
        }
        Set<Long> back = insertAgain(scope, found, ids);
        List<DeleteOneModel<Document>> gone = new ArrayList<>();
        for (Document letter : found) {
            if (back.contains(JobDocs.idOf(letter))) {
                gone.add(new DeleteOneModel<>(new Document(FieldNames.ID, JobDocs.idOf(letter))
                        .append(FieldNames.LIFE, letter.get(FieldNames.LIFE))));
            }
        }
        if (!gone.isEmpty()) {
            scope.dead().bulk(gone);
        }
    }

    /** Inserts the jobs. Returns the ids of those that are in the jobs collection now. */
    private static Set<Long> insertAgain(MongoScope scope, List<Document> letters, List<Long> ids) {
        List<InsertOneModel<Document>> jobs = new ArrayList<>();
        for (Document letter : letters) {
            Document job = new Document(letter).append(FieldNames.LIFE, life(letter) + 1);
            job.remove(FieldNames.MOVING);
            jobs.add(new InsertOneModel<>(job));
        }
        try {
            scope.jobs().bulk(jobs);
            return Set.copyOf(ids);
        } catch (MongoBulkWriteException e) {
            if (scope.isTransaction() || !MongoErrors.isDuplicate(e)) {
                throw e;
            }
            // Another caller moved some of them back, or a key is taken: those stay.
            return new HashSet<>(MongoQueries.ids(scope.jobs().find(JobDocs.byIds(ids))));
        }
    }

    /** Finds a job in either collection. The last read finds a job that was moved back between the reads. */
    static @Nullable Document find(MongoScope scope, JobId id, Document projection) {
        Document job = first(scope.jobs(), id, projection);
        if (job == null && scope.hasDead()) {
            Document letter = first(scope.dead(), id, projection);
            return letter == null ? first(scope.jobs(), id, projection) : letter;
        }
        return job;
    }

    /** Finds jobs in either collection. */
    static List<Document> findAll(MongoScope scope, Collection<Long> ids, Document projection) {
        Set<Long> missing = new HashSet<>(ids);
        List<Document> found = new ArrayList<>();
        scope.jobs()
                .find(JobDocs.byIds(List.copyOf(missing)))
                .projection(projection)
                .forEach(found::add);
        found.forEach(job -> missing.remove(JobDocs.idOf(job)));
        if (scope.hasDead() && !missing.isEmpty()) {
            scope.dead()
                    .find(JobDocs.byIds(List.copyOf(missing)))
                    .projection(projection)
                    .forEach(found::add);
        }
        return found;
    }

    private static @Nullable Document first(Docs docs, JobId id, Document projection) {
        return docs.find(JobDocs.byId(id)).projection(projection).first();
    }

    /** Returns the dead letters that count, which have no job of their id. */
    static List<Document> counted(MongoScope scope, List<Document> letters) {
        if (scope.isTransaction() || letters.isEmpty()) {
            return letters;
        }
        List<Long> ids = letters.stream().map(JobDocs::idOf).toList();
        Set<Long> jobs = new HashSet<>(MongoQueries.ids(scope.jobs().find(JobDocs.byIds(ids))));
        return letters.stream()
                .filter(letter -> !jobs.contains(JobDocs.idOf(letter)))
                .toList();
    }

    /** Excludes copies whose originals are still in the jobs collection. */
    static Document countedOnly(MongoScope scope, Document filter) {
        List<Long> shadows = scope.isTransaction()
                ? List.of()
                : MongoQueries.ids(scope.jobs().find(DEAD).limit(MOST_SHADOWS));
        return shadows.isEmpty()
                ? filter
                : new Document("$and", List.of(filter, new Document(FieldNames.ID, new Document("$nin", shadows))));
    }
}
