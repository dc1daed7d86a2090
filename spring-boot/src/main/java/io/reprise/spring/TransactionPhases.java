// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Knows whether the innermost transaction of a thread has begun to commit. Spring still calls a transaction active while
 * listeners run after its commit, but a job that joined it then would never be committed. Spring Boot adds this listener
 * to the transaction managers that it makes; those of the application get it here.
 */
final class TransactionPhases implements TransactionExecutionListener, BeanPostProcessor {

    /** For each transaction that is open on the thread, whether it commits. */
    private final ThreadLocal<Deque<Boolean>> commits = ThreadLocal.withInitial(ArrayDeque::new);

    @Override
    public Object postProcessBeforeInitialization(Object bean, String name) {
        if (bean instanceof ConfigurableTransactionManager manager
                && !manager.getTransactionExecutionListeners().contains(this)) {
            manager.addListener(this);
        }
        return bean;
    }

    boolean isCommitting() {
        return Boolean.TRUE.equals(commits.get().peek());
    }

    @Override
    public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
        if (beginFailure == null) {
            commits.get().push(false);
        }
    }

    @Override
    public void beforeCommit(TransactionExecution transaction) {
        if (!commits.get().isEmpty()) {
            commits.get().pop();
            commits.get().push(true);
        }
    }

    @Override
    public void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
        end();
    }

    @Override
    public void afterRollback(TransactionExecution transaction, @Nullable Throwable rollbackFailure) {
        end();
    }

    private void end() {
        commits.get().poll();
        if (commits.get().isEmpty()) {
            commits.remove();
        }
    }
}
