// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.store.JobStore;
import io.reprise.testkit.JobStoreContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

class MongoJobStoreTest implements JobStoreContract {

    private static MongoServer server;

    @BeforeAll
    static void open() {
        server = new MongoServer();
    }

    @AfterAll
    static void close() {
        server.close();
    }

    @BeforeEach
    void empty() {
        server.empty();
    }

    @Override
    public JobStore store() {
        return server.store();
    }

    @Override
    public OpenTransaction begin() {
        server.assumeReal("transactions");
        return new CallerTransaction(server.client());
    }
}
