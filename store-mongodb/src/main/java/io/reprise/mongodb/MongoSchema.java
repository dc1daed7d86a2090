// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.MongoCommandException;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.IndexModel;
import com.mongodb.client.model.IndexOptions;
import io.reprise.job.WaitReason;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.Docs;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoLogs;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.VersionedRows;
import io.reprise.store.StoreException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.bson.Document;

/** Creates missing collections and indexes, and checks that existing indexes are as needed. */
final class MongoSchema {

    private static final int NAMESPACE_EXISTS = 48;
    private static final String COLLECTION = "collection";
    private static final String DEAD_LETTERS = "dead_letters";

    private static final Document PENDING = new Document(FieldNames.STATUS, FieldNames.PENDING);
    private static final Document FAILED = new Document(FieldNames.STATUS, FieldNames.FAILED);
    private static final Document PROCESSING = new Document(FieldNames.STATUS, FieldNames.PROCESSING);

    private MongoSchema() {}

    /**
     * Prepares the database. Several processes may do this at once: the server creates a collection or an index once.
     */
    static void prepare(Mongo mongo) {
        MongoDatabase database = mongo.database();
        Set<String> present = database.listCollectionNames().into(new HashSet<>());
        for (String collection : MongoScope.ALL) {
            if (!present.contains(mongo.name(collection))) {
                create(database, mongo.name(collection));
            }
        }
        indexes(mongo).forEach((collection, models) -> index(database, mongo.name(collection), models));
        agreeOnDeadLetters(mongo);
        String letters = mongo.deadLetters();
        if (letters != null) {
            if (!present.contains(letters)) {
                create(database, letters);
            }
            index(database, letters, deadLetters());
        }
    }

    /** Checks, without a change, that {@link #prepare} has nothing to do. */
    static void require(Mongo mongo) {
        MongoDatabase database = mongo.database();
        Set<String> present = database.listCollectionNames().into(new HashSet<>());
        for (String collection : MongoScope.ALL) {
            requirePresent(present, mongo.name(collection));
        }
        indexes(mongo).forEach((collection, models) -> requireIndexes(database, mongo.name(collection), models));
        learnDeadLetters(mongo);
        String letters = mongo.deadLetters();
        if (letters != null) {
            requirePresent(present, letters);
            requireIndexes(database, letters, deadLetters());
        }
    }

    private static void requirePresent(Set<String> present, String collection) {
        if (!present.contains(collection)) {
            throw notPrepared("collection " + collection);
        }
    }

    private static void requireIndexes(MongoDatabase database, String collection, List<IndexModel> models) {
        verify(database, collection, models);
        Set<String> found = new HashSet<>();
        database.getCollection(collection).listIndexes().forEach(index -> found.add(index.getString("name")));
        for (IndexModel model : models) {
            String name = Objects.requireNonNull(model.getOptions().getName());
            if (!found.contains(name)) {
                throw notPrepared("index " + name + " of " + collection);
            }
        }
    }

    private static StoreException notPrepared(String missing) {
        return new StoreException(
                "The database has no " + missing + ", and this program needs it: let a server prepare the database",
                new IllegalStateException(missing),
                false);
    }

    private static void create(MongoDatabase database, String collection) {
        try {
            database.createCollection(collection);
        } catch (MongoCommandException e) {
            if (e.getErrorCode() != NAMESPACE_EXISTS) {
                throw e;
            }
        }
    }

    /** Stores where dead letters go, so that the setting of one process holds for all that start later. */
    private static void agreeOnDeadLetters(Mongo mongo) {
        Docs settings = mongo.plain().docs(MongoScope.SETTINGS);
        String wanted = mongo.deadLetters();
        if (wanted != null) {
            settings.upsert(
                    new Document(FieldNames.ID, DEAD_LETTERS), Change.none().setOnInsert(COLLECTION, wanted));
        }
        learnDeadLetters(mongo);
    }

    private static void learnDeadLetters(Mongo mongo) {
        String wanted = mongo.deadLetters();
        Document agreed = mongo.plain().docs(MongoScope.SETTINGS).first(new Document(FieldNames.ID, DEAD_LETTERS));
        String collection = agreed == null ? null : FieldNames.text(agreed, COLLECTION);
        if (collection == null) {
            return;
        }
        if (wanted != null && !wanted.equals(collection)) {
            throw new StoreException(
                    "Dead letters of this database are in " + collection + ", not in " + wanted
                            + ": open the store without deadLettersIn, or with that name",
                    new IllegalStateException(wanted),
                    false);
        }
        mongo.deadLettersIn(collection);
    }

    private static void index(MongoDatabase database, String collection, List<IndexModel> models) {
        verify(database, collection, models);
        database.getCollection(collection).createIndexes(models);
    }

    /** Refuses an index of our name that a person made differently, for instance without uniqueness. */
    private static void verify(MongoDatabase database, String collection, List<IndexModel> models) {
        Map<String, Document> found = new HashMap<>();
        database.getCollection(collection).listIndexes().forEach(index -> found.put(index.getString("name"), index));
        for (IndexModel model : models) {
            String name = Objects.requireNonNull(model.getOptions().getName());
            Document index = found.get(name);
            if (index != null && !isSame(index, model)) {
                throw new StoreException(
                        "The index " + name + " of " + collection
                                + " is not as it should be: drop it, and the next start will make it",
                        new IllegalStateException(index.toJson()),
                        false);
            }
        }
    }

    private static boolean isSame(Document index, IndexModel model) {
        IndexOptions options = model.getOptions();
        return FieldNames.flag(index, "unique") == options.isUnique()
                && FieldNames.flag(index, "sparse") == options.isSparse()
                && Objects.equals(index.get("partialFilterExpression"), options.getPartialFilterExpression())
                && order(index.get("key", Document.class)).equals(order((Document) model.getKeys()));
    }

    private static List<String> order(Document keys) {
        return keys.keySet().stream()
                .map(key -> key + " " + FieldNames.integer(keys, key))
                .toList();
    }

    static Map<String, List<IndexModel>> indexes(Mongo mongo) {
        Map<String, List<IndexModel>> indexes = new HashMap<>();
        List<IndexModel> jobs = jobs(mongo.hasKeys());
        if (mongo.hasReadableIndexes()) {
            jobs.addAll(readable());
        }
        indexes.put(MongoScope.JOBS, jobs);
        indexes.put(
                MongoScope.AUDIT,
                List.of(
                        index("audit_job", keys("job", "at_us"), new IndexOptions()),
                        index("audit_time", keys("at_us"), new IndexOptions())));
        indexes.put(
                MongoScope.SCHEDULES,
                List.of(index("due", keys("paused", "next_us", FieldNames.ID), new IndexOptions())));
        indexes.put(MongoScope.DOCUMENTS, List.of(index("kind", keys("kind", "name"), new IndexOptions())));
        indexes.put(MongoScope.CONTROLS, List.of(index("changed", keys(VersionedRows.VERSION), new IndexOptions())));
        indexes.put(MongoScope.SPENDING, List.of(index("spending_day", keys("period_us"), new IndexOptions())));
        indexes.put(
                MongoScope.CONTROL_EVENTS,
                List.of(
                        index("event_subject", keys("subject", "at_us"), new IndexOptions()),
                        index("event_time", keys("at_us"), new IndexOptions())));
        indexes.put(
                MongoScope.BATCHES,
                List.of(
                        index("batch_parent", keys(MongoBatches.PARENT), new IndexOptions().sparse(true)),
                        index("batch_ended", keys(MongoBatches.ENDED), new IndexOptions().sparse(true))));
        indexes.put(
                MongoScope.MEMBERS,
                List.of(
                        index("member_parent", keys(MongoBatches.PARENT), new IndexOptions()),
                        index("member_place", keys(MongoBatches.BATCH, MongoBatches.PLACE), new IndexOptions())));
        indexes.put(
                MongoScope.LOGS, List.of(index("log_job", keys(MongoLogs.JOB, "token", "part"), new IndexOptions())));
        indexes.put(MongoScope.ACTIVITY, List.of(index("activity_lane", keys("lane", "at_us"), new IndexOptions())));
        return indexes;
    }

    private static List<IndexModel> jobs(boolean keys) {
        List<IndexModel> jobs = new ArrayList<>();
        // Serves the claim: equal queue, parked, lane and turn, then the order of claims; or jumps from turn to turn.
        // The type is for claims of some types.
        jobs.add(index(
                "ready",
                keys(FieldNames.QUEUE, FieldNames.PARKED, FieldNames.LANE)
                        .append(FieldNames.PRIORITY, -1)
                        .append(FieldNames.TURN, 1)
                        .append(FieldNames.DUE, 1)
                        .append(FieldNames.ID, 1)
                        .append(FieldNames.TYPE, 1),
                new IndexOptions().partialFilterExpression(PENDING)));
        jobs.add(index(
                "late",
                keys(FieldNames.PARKED, FieldNames.LATE),
                new IndexOptions()
                        .partialFilterExpression(new Document(FieldNames.LATE, new Document("$exists", true)))));
        jobs.add(index("deadline", keys(FieldNames.DEADLINE), new IndexOptions().partialFilterExpression(PENDING)));
        jobs.add(index("lease", keys(FieldNames.TOKEN), new IndexOptions().partialFilterExpression(PROCESSING)));
        jobs.add(index("expiry", keys(FieldNames.UNTIL), new IndexOptions().partialFilterExpression(PROCESSING)));
        jobs.add(index(
                "parked", keys(FieldNames.PARKED_BY, FieldNames.DUE, FieldNames.ID), new IndexOptions().sparse(true)));
        jobs.add(index("owes", keys(FieldNames.OWES), new IndexOptions().sparse(true)));
        jobs.add(index("live", keys(FieldNames.LIVE_QUEUE), new IndexOptions().sparse(true)));
        jobs.add(index("counts", keys(FieldNames.QUEUE, FieldNames.STATUS), new IndexOptions()));
        jobs.add(index("finished", keys(FieldNames.STATUS, FieldNames.FINISHED), new IndexOptions()));
        if (keys) {
            jobs.add(index(
                    "unique_key",
                    keys(FieldNames.HELD_KEY),
                    new IndexOptions().unique(true).sparse(true)));
            jobs.add(index(
                    "following",
                    keys(FieldNames.WAIT_REASON, FieldNames.ID),
                    new IndexOptions()
                            .partialFilterExpression(new Document(FieldNames.WAIT_REASON, WaitReason.FOLLOW.name()))));
            jobs.add(index(
                    "idempotency",
                    keys(FieldNames.IDEMPOTENCY_KEYS),
                    new IndexOptions().unique(true).sparse(true)));
        }
        jobs.add(index(
                "dead", keys(FieldNames.STATUS, FieldNames.ID), new IndexOptions().partialFilterExpression(FAILED)));
        jobs.add(index(
                "dead_queue",
                keys(FieldNames.QUEUE, FieldNames.ID),
                new IndexOptions().partialFilterExpression(FAILED)));
        jobs.add(index(
                "failure", keys(FieldNames.ERROR + ".fingerprint", FieldNames.ID), new IndexOptions().sparse(true)));
        return jobs;
    }

    /** For people. The names are those that MongoDB gives, so that indexes which a person made are taken for these. */
    private static List<IndexModel> readable() {
        return List.of(
                index("status_1_created_at_1", keys(FieldNames.STATUS, FieldNames.CREATED_AT), new IndexOptions()),
                index("next_retry_at_1", keys(FieldNames.NEXT_RETRY_AT), new IndexOptions()),
                index("status_1_updated_at_1", keys(FieldNames.STATUS, FieldNames.UPDATED_AT), new IndexOptions()));
    }

    private static List<IndexModel> deadLetters() {
        return List.of(
                index("counts", keys(FieldNames.QUEUE, FieldNames.STATUS), new IndexOptions()),
                index("finished", keys(FieldNames.STATUS, FieldNames.FINISHED), new IndexOptions()),
                index("idempotency", keys(FieldNames.IDEMPOTENCY_KEYS), new IndexOptions().sparse(true)),
                index("dead_queue", keys(FieldNames.QUEUE, FieldNames.ID), new IndexOptions()),
                index(
                        "failure",
                        keys(FieldNames.ERROR + ".fingerprint", FieldNames.ID),
                        new IndexOptions().sparse(true)),
                index("moving", keys(FieldNames.MOVING), new IndexOptions().sparse(true)));
    }

    private static IndexModel index(String name, Document keys, IndexOptions options) {
        return new IndexModel(keys, options.name(name));
    }

    private static Document keys(String... fields) {
        Document keys = new Document();
        for (String field : fields) {
            keys.append(field, 1);
        }
        return keys;
    }
}
