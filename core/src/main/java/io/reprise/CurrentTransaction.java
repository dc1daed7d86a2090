// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.job.Transaction;
import org.jspecify.annotations.Nullable;

/**
 * Finds the transaction that a framework has bound to the calling thread. {@link Reprise#enqueue(JobRequest)} then
 * stores its job in that transaction, and workers are woken after the commit. Set it by
 * {@link RepriseBuilder#joins}. Thread-safe.
 *
 * @since 0.1.0
 */
public interface CurrentTransaction {

    /** The answer where no framework manages transactions: there is never one to join. */
    CurrentTransaction NONE = new CurrentTransaction() {
        @Override
        public @Nullable Transaction find() {
            return null;
        }

        @Override
        public void afterCommit(Runnable task) {
            throw new IllegalStateException("There is no transaction");
        }
    };

    /**
     * Returns the open transaction of the calling thread on the database of the store; null if there is none. Then the
     * job is stored in a transaction of its own.
     *
     * @throws IllegalStateException if the thread is in a transaction that cannot store a job, such as a read-only one
     */
    @Nullable
    Transaction find();

    /**
     * Runs a task after the commit of the transaction that {@link #find} returned to this thread. The task does not run
     * if the transaction rolls back.
     */
    void afterCommit(Runnable task);
}
