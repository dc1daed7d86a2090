// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import io.reprise.job.Transaction;
import io.reprise.testkit.contract.TransactionContract.OpenTransaction;

/** A transaction as an application opens it. */
final class CallerTransaction implements OpenTransaction {

    private final ClientSession session;

    CallerTransaction(MongoClient client) {
        session = client.startSession();
        session.startTransaction();
    }

    @Override
    public Transaction handle() {
        return MongoTransaction.of(session);
    }

    @Override
    public void commit() {
        session.commitTransaction();
    }

    @Override
    public void rollback() {
        session.abortTransaction();
    }

    @Override
    public void close() {
        session.close();
    }
}
