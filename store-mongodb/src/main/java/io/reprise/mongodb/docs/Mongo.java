// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.ReturnDocument;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.Date;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * The server: its clock, its counters, and work in transactions where it has them. A majority acknowledges writes, and
 * reads go to the primary, whatever the client's settings are.
 */
public final class Mongo {

    private static final String LAST = "last";

    /**
     * The projection makes the answer a copy. The in-memory server of the tests would otherwise return the row itself,
     * and two callers could read one number.
     */
    private static final FindOneAndUpdateOptions COUNT = new FindOneAndUpdateOptions()
            .upsert(true)
            .returnDocument(ReturnDocument.AFTER)
            .projection(new Document(LAST, 1));

    private static final int COMMAND_NOT_FOUND = 59;

    /** Limit for a read by a person, and for the wait to begin it. The store's timeout applies if it is shorter. */
    private static final Duration LOOK_TIME = Duration.ofSeconds(5);

    private static final int MAX_SEARCHES = 4;

    private final MongoClient client;
    private final MongoDatabase database;
    /** For transactions, which have a time limit as a whole. */
    private final MongoDatabase untimed;

    private final String prefix;
    private final boolean keys;
    private final boolean readableIndexes;
    private final TransactionOptions snapshot;
    /** For {@link #list}. */
    private final MongoDatabase hurried;

    private final TransactionOptions hurriedSnapshot;
    private final Semaphore looks = new Semaphore(MAX_SEARCHES, true);

    private volatile @Nullable String deadLetters;
    private volatile @Nullable Boolean transactions;
    /** Servers before 4.4.2 know only isMaster, not hello. */
    private volatile boolean oldGreeting;

    public Mongo(MongoClient client, String database, MongoSettings settings) {
        this.client = client;
        this.prefix = settings.prefix();
        this.keys = settings.keys();
        this.readableIndexes = settings.readableIndexes();
        this.deadLetters = settings.deadLetters();
        long timeoutMillis = settings.timeout().toMillis();
        this.untimed = client.getDatabase(database)
                .withWriteConcern(WriteConcern.MAJORITY)
                .withReadConcern(ReadConcern.LOCAL)
                .withReadPreference(ReadPreference.primary());
        this.database = untimed.withTimeout(timeoutMillis, TimeUnit.MILLISECONDS);
        this.snapshot = snapshot(timeoutMillis);
        long lookMillis = Math.min(timeoutMillis, LOOK_TIME.toMillis());
        this.hurried = untimed.withTimeout(lookMillis, TimeUnit.MILLISECONDS);
        this.hurriedSnapshot = snapshot(lookMillis);
    }

    private static TransactionOptions snapshot(long timeoutMillis) {
        return TransactionOptions.builder()
                .readConcern(ReadConcern.SNAPSHOT)
                .readPreference(ReadPreference.primary())
                .writeConcern(WriteConcern.MAJORITY)
                .timeout(timeoutMillis, TimeUnit.MILLISECONDS)
                .build();
    }

    public MongoClient client() {
        return client;
    }

    public MongoDatabase database() {
        return database;
    }

    /** Returns the primary's time in microseconds, with a resolution of milliseconds. */
    long now() {
        Date time = hello().getDate("localTime");
        return MongoTime.of(Objects.requireNonNull(time, "The server does not tell its time")
                .toInstant());
    }

    /** Whether the server is a replica set or a sharded cluster, and so has transactions. */
    public boolean hasTransactions() {
        Boolean known = transactions;
        if (known == null) {
            Document hello = hello();
            known = hello.containsKey("setName") || "isdbgrid".equals(hello.get("msg"));
            transactions = known;
        }
        return known;
    }

    private Document hello() {
        if (!oldGreeting) {
            try {
                return database.runCommand(new Document("hello", 1), ReadPreference.primary());
            } catch (MongoCommandException e) {
                if (e.getErrorCode() != COMMAND_NOT_FOUND) {
                    throw e;
                }
                oldGreeting = true;
            }
        }
        return database.runCommand(new Document("isMaster", 1), ReadPreference.primary());
    }

    /** Takes {@code amount} numbers. Returns the last. Numbers only grow, also over crashes and failovers. */
    long next(String counter, int amount) {
        Document row = Objects.requireNonNull(plain().collection(MongoScope.COUNTERS)
                .findOneAndUpdate(
                        new Document(FieldNames.ID, counter),
                        new Document("$inc", new Document(LAST, (long) amount)),
                        COUNT));
        return Objects.requireNonNull(row.getLong(LAST));
    }

    /** Returns the name of a collection in the database. */
    public String name(String collection) {
        return prefix + collection;
    }

    /** Whether jobs may have unique and idempotency keys. */
    public boolean hasKeys() {
        return keys;
    }

    /** Whether the fields for people have indexes. */
    public boolean hasReadableIndexes() {
        return readableIndexes;
    }

    /** Returns the collection that dead letters are moved to; null if they are not moved. */
    public @Nullable String deadLetters() {
        return deadLetters;
    }

    /** Moves dead letters from now on. */
    public void deadLettersIn(String collection) {
        deadLetters = collection;
    }

    public boolean movesDeadLetters() {
        return deadLetters != null;
    }

    /** Returns a scope without a transaction. */
    public MongoScope plain() {
        return new MongoScope(this, database, null);
    }

    /** Returns a scope in a caller's transaction. */
    public MongoScope within(ClientSession session) {
        return new MongoScope(this, untimed, session);
    }

    public <T extends @Nullable Object> T run(String what, Function<MongoScope, T> work) {
        return guarded(what, () -> work.apply(plain()));
    }

    /** Runs work in one transaction, again after a write conflict. Without transactions it runs step by step. */
    public <T extends @Nullable Object> T atomically(String what, Function<MongoScope, T> work) {
        return guarded(what, () -> {
            if (!hasTransactions()) {
                return work.apply(plain());
            }
            try (ClientSession session = client.startSession()) {
                return session.withTransaction(() -> work.apply(new MongoScope(this, untimed, session)), snapshot);
            }
        });
    }

    /**
     * Reads for a person, such as a list or a count. At most {@code MAX_SEARCHES} run at once, with a short time limit, so
     * that no number of readers takes the client's connections from the engine.
     */
    public <T extends @Nullable Object> T list(String what, Function<MongoScope, T> work) {
        return guarded(what, () -> {
            acquireLook(what);
            try {
                if (!movesDeadLetters() || !hasTransactions()) {
                    return work.apply(new MongoScope(this, hurried, null));
                }
                try (ClientSession session = client.startSession()) {
                    return session.withTransaction(
                            () -> work.apply(new MongoScope(this, untimed, session)), hurriedSnapshot);
                }
            } finally {
                looks.release();
            }
        });
    }

    private void acquireLook(String what) {
        try {
            if (!looks.tryAcquire(LOOK_TIME.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new StoreException(
                        "MongoDB could not " + what + ": too many others look at lists", new TimeoutException(), true);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreException("Interrupted while waiting to " + what, e, true);
        }
    }

    /** Reads jobs. If dead letters are moved, both collections are read in one snapshot. */
    public <T extends @Nullable Object> T look(String what, Function<MongoScope, T> work) {
        return movesDeadLetters() ? atomically(what, work) : run(what, work);
    }

    /** Like {@link #atomically}, but returns null without waiting if another transaction changes the same documents. */
    public <T> @Nullable T unlessBusy(String what, Function<MongoScope, @Nullable T> work) {
        if (!hasTransactions()) {
            return guarded(what, () -> work.apply(plain()));
        }
        return guarded(what, () -> {
            try (ClientSession session = client.startSession()) {
                session.startTransaction(snapshot);
                T answer = work.apply(new MongoScope(this, untimed, session));
                session.commitTransaction();
                return answer;
            } catch (MongoException e) {
                if (MongoErrors.isTransactionVictim(e)) {
                    return null;
                }
                throw e;
            }
        });
    }

    private static <T extends @Nullable Object> T guarded(String what, Supplier<T> work) {
        try {
            return work.get();
        } catch (MongoException e) {
            throw MongoErrors.wrap(what, e);
        } catch (IllegalStateException e) {
            throw new StoreException("MongoDB could not " + what + ": " + e.getMessage(), e, false);
        }
    }
}
