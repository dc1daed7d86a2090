// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.util.UUID;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * A database for one test class: in the server named by {@code REPRISE_TEST_MONGODB_URI}, or in one that speaks MongoDB's
 * protocol, in this process and in memory, and lacks transactions and more.
 */
final class MongoServer implements AutoCloseable {

    static final String VARIABLE = "REPRISE_TEST_MONGODB_URI";

    private final de.bwaldvogel.mongo.@Nullable MongoServer substitute;
    private final MongoClient client;
    private final String database =
            "reprise_test_" + UUID.randomUUID().toString().replace("-", "");
    private final MongoJobStore store;

    MongoServer() {
        String uri = System.getenv(VARIABLE);
        substitute = uri == null ? new de.bwaldvogel.mongo.MongoServer(new MemoryBackend()) : null;
        String url = substitute == null ? uri : substitute.bindAndGetConnectionString();
        client = MongoClients.create(MongoClientSettings.builder()
                .applyConnectionString(new ConnectionString(url))
                .build());
        store = MongoJobStore.of(client, database);
        store.prepare();
    }

    /** Skips the test unless the server is a real one, and says what the other lacks. */
    void assumeReal(String lacking) {
        assumeTrue(substitute == null, "The server in memory has no " + lacking + ": name a real one in " + VARIABLE);
    }

    Docs jobs() {
        return new Docs(client.getDatabase(database).getCollection(Scope.JOBS), null);
    }

    MongoJobStore store() {
        return store;
    }

    MongoClient client() {
        return client;
    }

    String database() {
        return database;
    }

    void empty() {
        Scope.ALL.forEach(
                name -> client.getDatabase(database).getCollection(name).deleteMany(new Document()));
    }

    @Override
    public void close() {
        client.getDatabase(database).drop();
        store.close();
        client.close();
        if (substitute != null) {
            substitute.shutdownNow();
        }
    }
}
