// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import io.reprise.CurrentTransaction;
import io.reprise.job.Transaction;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Finds the transaction that Spring has bound to the thread, whichever framework began it. */
final class SpringTransactions implements CurrentTransaction {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.spring");

    private final TransactionPhases phases;
    private final Supplier<@Nullable Transaction> onStore;
    private final AtomicBoolean warned = new AtomicBoolean();

    /**
     * Creates an object for one store.
     *
     * @param onStore returns the transaction of the thread on the database of the store; null if there is none
     */
    SpringTransactions(TransactionPhases phases, Supplier<@Nullable Transaction> onStore) {
        this.phases = phases;
        this.onStore = onStore;
    }

    @Override
    public @Nullable Transaction find() {
        if (!TransactionSynchronizationManager.isActualTransactionActive() || phases.isCommitting()) {
            return null;
        }
        Transaction current = onStore.get();
        if (current == null) {
            if (warned.compareAndSet(false, true)) {
                log.warn("A job is enqueued in a transaction of another database than that of Reprise. It is stored at"
                        + " once and stays if that transaction rolls back. This is said once");
            }
            return null;
        }
        if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
            throw new IllegalStateException(
                    "A job cannot be enqueued in a read-only transaction: remove readOnly = true"
                            + " from @Transactional, or enqueue in a method with propagation REQUIRES_NEW");
        }
        return current;
    }

    @Override
    public void afterCommit(Runnable task) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCommit() {
                task.run();
            }
        });
    }
}
