// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import io.reprise.mongodb.docs.MongoSettings;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a {@link MongoJobStore}. A method that opens a store can be called more than once; each call makes a new
 * store with the settings of that moment. If a setting is set twice, the last call wins. Not thread-safe.
 *
 * @since 0.1.0
 */
public final class MongoStoreBuilder {

    private static final int HISTORY = 25;
    private static final String PREFIX = "reprise_";

    private Duration timeout = Duration.ofSeconds(30);
    private int history = HISTORY;
    private String prefix = PREFIX;
    private boolean keys = true;
    private boolean readableIndexes;
    private @Nullable String deadLetters;

    MongoStoreBuilder() {}

    /**
     * Sets the longest time that a call of the database may take, with all its repetitions. Lists and counts get at
     * most 5 seconds of it. It does not apply in a transaction of the application. Default: 30 seconds.
     *
     * @param timeout 1 second to 1 hour
     * @return this builder
     * @throws NullPointerException if {@code timeout} is null
     * @throws IllegalArgumentException if {@code timeout} is out of its bounds
     */
    public MongoStoreBuilder timeout(Duration timeout) {
        within("timeout in seconds", (int) Math.max(-1, Math.min(Integer.MAX_VALUE, timeout.toSeconds())), 1, 3_600);
        this.timeout = timeout;
        return this;
    }

    /**
     * Sets the number of attempts that are kept per job. Older ones are deleted. Attempts are in the document of the
     * job, which MongoDB limits to 16 MB. Default: {@value #HISTORY}.
     *
     * @param attempts 1 to 1,000
     * @return this builder
     * @throws IllegalArgumentException if {@code attempts} is out of its bounds
     */
    public MongoStoreBuilder keepAttempts(int attempts) {
        this.history = within("keepAttempts", attempts, 1, 1_000);
        return this;
    }

    /**
     * Sets the beginning of the names of all collections. Stores with different prefixes in one database are
     * independent. Default: {@value #PREFIX}.
     *
     * @param prefix a letter, followed by up to 49 letters, digits and underscores
     * @return this builder
     * @throws NullPointerException if {@code prefix} is null
     * @throws IllegalArgumentException if {@code prefix} is anything else
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
     * Moves dead letters to a collection of their own, such as {@code tasks_dlq}. They are found, replayed and
     * discarded as before. The database remembers the name: {@link MongoJobStore#prepare} of every later store uses it
     * too, and refuses another name. Default: dead letters stay with the other jobs.
     *
     * @param collection a letter, followed by up to 99 letters, digits and underscores
     * @return this builder
     * @throws NullPointerException if {@code collection} is null
     * @throws IllegalArgumentException if {@code collection} is anything else
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
     * Switches unique keys and idempotency keys off. The store refuses jobs that have one with a StoreException, and
     * does not create the unique indexes. A sharded collection of jobs cannot have these indexes. Default: keys are on.
     * A second call changes nothing, and no call undoes it.
     *
     * @return this builder
     */
    public MongoStoreBuilder withoutKeys() {
        this.keys = false;
        return this;
    }

    /**
     * Adds three indexes for people who query the jobs: {@code status} with {@code created_at}, {@code next_retry_at},
     * and {@code status} with {@code updated_at}. The store itself does not use them, and each write pays for them.
     * Default: off. A second call changes nothing; a store that is opened without it leaves the indexes.
     *
     * @return this builder
     */
    public MongoStoreBuilder withReadableIndexes() {
        this.readableIndexes = true;
        return this;
    }

    private static int within(String what, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " must be " + min + " to " + max + ", not " + value);
        }
        return value;
    }

    /**
     * Opens a store by URL, with a client of its own that {@link MongoJobStore#close} closes. If the URL names no
     * database, it is {@value MongoJobStore#DEFAULT_DATABASE}.
     *
     * @param url {@code mongodb://user:password@host1,host2/database?options} or {@code mongodb+srv://…}. Write the
     *     characters {@code / : @ %} of user name and password as {@code %2F %3A %40 %25}
     * @throws NullPointerException if {@code url} is null
     * @throws IllegalArgumentException if it is not a URL of MongoDB; the message does not quote it, because it may
     *     hold a password
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
            // The driver's message and its cause may quote the password, so neither is kept.
            throw new IllegalArgumentException("Not a URL of MongoDB: expected"
                    + " mongodb://<user>:<password>@<host>,<host>/<database>, with /, :, @ and % in user and password"
                    + " written as %2F, %3A, %40 and %25");
        }
    }

    /**
     * Returns a store on a client of the application. The store can join sessions of this client
     * ({@link MongoTransaction}), and does not close it.
     *
     * @param database name of the database
     * @throws IllegalArgumentException if {@code database} is null or not a name of a database
     */
    public MongoJobStore of(MongoClient client, String database) {
        return new MongoJobStore(client, database, settings(), false);
    }

    private MongoSettings settings() {
        return new MongoSettings(timeout, history, prefix, keys, readableIndexes, deadLetters);
    }
}
