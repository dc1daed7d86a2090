// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import io.reprise.store.JobStore;
import io.reprise.testkit.contract.TransactionContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/** A server for the contracts of one test class, with some settings. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class MongoFixture implements TransactionContract {

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
