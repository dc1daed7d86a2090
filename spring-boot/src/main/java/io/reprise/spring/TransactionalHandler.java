// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import io.reprise.CurrentTransaction;
import io.reprise.JobContext;
import io.reprise.JobHandler;
import io.reprise.job.Transaction;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/** Runs a handler and completes its job in one Spring transaction. */
record TransactionalHandler(
        JobHandler<Object> handler, PlatformTransactionManager manager, CurrentTransaction transactions)
        implements JobHandler<Object> {

    @Override
    public void handle(Object payload, JobContext job) throws Exception {
        TransactionStatus status = manager.getTransaction(new DefaultTransactionDefinition());
        try {
            handler.handle(payload, job);
            job.complete(current());
        } catch (Throwable e) {
            rollback(status, e);
            throw e;
        }
        manager.commit(status);
    }

    private Transaction current() {
        Transaction current = transactions.find();
        if (current == null) {
            throw new IllegalStateException("The transaction manager of a transactional handler does not use the"
                    + " database of Reprise: set reprise.store.transaction-manager to the one that does");
        }
        return current;
    }

    private void rollback(TransactionStatus status, Throwable cause) {
        try {
            if (!status.isCompleted()) {
                manager.rollback(status);
            }
        } catch (TransactionException e) {
            cause.addSuppressed(e);
        }
    }
}
