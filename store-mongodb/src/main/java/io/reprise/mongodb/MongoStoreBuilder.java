// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Settings of a {@link MongoJobStore}. Not thread-safe. */
public final class MongoStoreBuilder {

    private static final int HISTORY = 25;
    private static final String PREFIX = "reprise_";

    private Duration timeout = Duration.ofSeconds(30);
    private int history = HISTORY;
    private String prefix = PREFIX;
    private boolean keys = true;
    private @Nullable String deadLetters;

    MongoStoreBuilder() {}

    /**
     * How long a call of the database may take, with all its repetitions: 1 second to 1 hour, 30 seconds unless told
     * otherwise.
     *
     * @throws IllegalArgumentException if out of bounds
     */
    public MongoStoreBuilder timeout(Duration timeout) {
        within("timeout in seconds", (int) Math.min(Integer.MAX_VALUE, timeout.toSeconds()), 1, 3_600);
        this.timeout = timeout;
        return this;
    }

    /**
     * Attempts kept per job, 1 to 1000, {@value #HISTORY} unless told otherwise. They are in the job's document, which
     * MongoDB limits to 16 MB.
     *
     * @throws IllegalArgumentException if out of bounds
     */
    public MongoStoreBuilder keepAttempts(int attempts) {
        this.history = within("keepAttempts", attempts, 1, 1_000);
        return this;
    }

    /**
     * What the names of the collections begin with, {@value #PREFIX} unless told otherwise. Stores of other prefixes in the
     * same database know nothing of each other.
     *
     * @throws IllegalArgumentException if it is none of 1 to 50 letters, digits and underscores
     */
    public MongoStoreBuilder collectionPrefix(String prefix) {
        if (!prefix.matches("[A-Za-z][A-Za-z0-9_]{0,49}")) {
            throw new IllegalArgumentException(
                    "collectionPrefix must be a letter and up to 49 letters, digits and underscores, not '" + prefix
                            + "'");
        }
        this.prefix = prefix;
        return this;
    }

    /**
     * Moves dead letters to a collection of their own, such as {@code tasks_dlq}. They are found, replayed and discarded as
     * before. The database remembers it: stores that are opened later do the same.
     *
     * @throws IllegalArgumentException if the name is none of 1 to 100 letters, digits and underscores
     */
    public MongoStoreBuilder deadLettersIn(String collection) {
        if (!collection.matches("[A-Za-z][A-Za-z0-9_]{0,99}")) {
            throw new IllegalArgumentException(
                    "deadLettersIn takes a name that is a letter and up to 99 letters, digits and"
                            + " underscores, not '" + collection + "'");
        }
        this.deadLetters = collection;
        return this;
    }

    /**
     * No unique and no idempotency keys: jobs that have one are refused, and the indexes that keep them unique are not made.
     * A collection of jobs that is sharded cannot have those.
     */
    public MongoStoreBuilder withoutKeys() {
        this.keys = false;
        return this;
    }

    private static int within(String what, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " must be " + min + " to " + max + ", not " + value);
        }
        return value;
    }

    /**
     * A store at {@code mongodb://user:password@host1,host2/database?options} or {@code mongodb+srv://…}.
     *
     * @throws IllegalArgumentException if it is no such URL
     */
    public MongoJobStore open(String url) {
        ConnectionString connection = connection(url);
        MongoClient client = MongoClients.create(MongoClientSettings.builder()
                .applyConnectionString(connection)
                .applicationName("reprise")
                .retryWrites(true)
                .retryReads(true)
                .build());
        String database = Objects.requireNonNullElse(connection.getDatabase(), MongoJobStore.DEFAULT_DATABASE);
        return new MongoJobStore(client, database, settings(), true);
    }

    private static ConnectionString connection(String url) {
        try {
            return new ConnectionString(url);
        } catch (IllegalArgumentException e) {
            // Its message may quote the password, and so may its cause.
            throw new IllegalArgumentException("Not a URL of MongoDB: expected"
                    + " mongodb://<user>:<password>@<host>,<host>/<database>, with /, :, @ and % in user and password"
                    + " written as %2F, %3A, %40 and %25");
        }
    }

    /** A store in a database of the application's own client, whose sessions it can join. It does not close the client. */
    public MongoJobStore of(MongoClient client, String database) {
        return new MongoJobStore(client, database, settings(), false);
    }

    private Settings settings() {
        return new Settings(timeout, history, prefix, keys, deadLetters);
    }
}
