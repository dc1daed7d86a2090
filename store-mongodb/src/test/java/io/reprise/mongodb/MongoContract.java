// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.store.JobStore;
import io.reprise.testkit.contract.JobStoreContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/** The contract on one server, with some settings. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class MongoContract implements JobStoreContract {

    private MongoServer server;

    abstract MongoServer start();

    @BeforeAll
    void open() {
        server = start();
    }

    @AfterAll
    void close() {
        server.close();
    }

    @BeforeEach
    void empty() {
        server.emptyWritten();
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
