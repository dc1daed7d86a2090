// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import io.reprise.mongodb.docs.Docs;
import io.reprise.mongodb.docs.MongoScope;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.bson.BsonValue;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * A database for one test class: in the server named by {@code REPRISE_TEST_MONGODB_URI}, or in one that speaks MongoDB's
 * protocol, in this process and in memory, and lacks transactions and more.
 */
public final class MongoServer implements AutoCloseable {

    static final String VARIABLE = "REPRISE_TEST_MONGODB_URI";
    static final String DEAD_LETTERS = "tasks_dlq";
    private static final Set<String> WRITES = Set.of("insert", "update", "findAndModify");

    private final de.bwaldvogel.mongo.@Nullable MongoServer substitute;
    private final ConnectionString server;
    private final MongoClient client;
    /** Collections that this client wrote to: to empty the others as well would take much of a test's time. */
    private final Set<String> written = ConcurrentHashMap.newKeySet();

    private final String database =
            "reprise_test_" + UUID.randomUUID().toString().replace("-", "");
    private final MongoJobStore store;

    /** The server named by the variable, or the one in memory. */
    public MongoServer() {
        this(System.getenv(VARIABLE));
    }

    /** The server at this URI, or the one in memory. */
    public MongoServer(@Nullable String uri) {
        this(uri, MongoJobStore.builder());
    }

    MongoServer(@Nullable String uri, MongoStoreBuilder settings) {
        substitute = uri == null ? new de.bwaldvogel.mongo.MongoServer(new MemoryBackend()) : null;
        server = new ConnectionString(substitute == null ? uri : substitute.bindAndGetConnectionString());
        client = MongoClients.create(MongoClientSettings.builder()
                .applyConnectionString(server)
                .addCommandListener(new Writes())
                .build());
        store = settings.of(client, database);
        store.prepare();
    }

    /** Whether it is a real one. */
    public boolean isReal() {
        return substitute == null;
    }

    /** Skips the test unless the server is a real one, and says what the other lacks. */
    public void assumeReal(String lacking) {
        assumeTrue(isReal(), "The server in memory has no " + lacking + ": name a real one in " + VARIABLE);
    }

    /** Where the database is, for a client of its own. */
    public String url() {
        String set = server.getRequiredReplicaSetName();
        return "mongodb://" + String.join(",", server.getHosts()) + "/" + database
                + (set == null ? "" : "?replicaSet=" + set);
    }

    /** The same by another port, before the server's first one. Other members are not asked for. */
    public String urlThrough(int port) {
        return "mongodb://127.0.0.1:" + port + "/" + database + "?directConnection=true";
    }

    public int port() {
        List<String> hosts = server.getHosts();
        String host = hosts.get(0);
        return Integer.parseInt(host.substring(host.lastIndexOf(':') + 1));
    }

    Docs jobs() {
        return new Docs(collection(MongoScope.JOBS), null);
    }

    MongoCollection<Document> collection(String name) {
        return data().getCollection("reprise_" + name);
    }

    /** Where dead letters are moved to, if they are. */
    MongoCollection<Document> deadLetters() {
        return data().getCollection(DEAD_LETTERS);
    }

    /** The database itself. */
    public MongoDatabase data() {
        return client.getDatabase(database);
    }

    public MongoJobStore store() {
        return store;
    }

    public MongoClient client() {
        return client;
    }

    public String database() {
        return database;
    }

    void empty() {
        collections().forEach(collection -> collection.deleteMany(new Document()));
    }

    /** The same where nobody but this client writes. */
    void emptyWritten() {
        collections()
                .filter(collection -> written.remove(collection.getNamespace().getCollectionName()))
                .forEach(collection -> collection.deleteMany(new Document()));
    }

    private Stream<MongoCollection<Document>> collections() {
        return Stream.concat(MongoScope.ALL.stream().map(this::collection), Stream.of(deadLetters()));
    }

    /** Notes what is written to. */
    private final class Writes implements CommandListener {
        @Override
        public void commandStarted(CommandStartedEvent event) {
            BsonValue collection = event.getCommand().get(event.getCommandName());
            if (WRITES.contains(event.getCommandName()) && collection != null && collection.isString()) {
                written.add(collection.asString().getValue());
            }
        }
    }

    @Override
    public void close() {
        if (isReal()) {
            data().drop();
        }
        store.close();
        client.close();
        if (substitute != null) {
            substitute.shutdownNow();
        }
    }
}
