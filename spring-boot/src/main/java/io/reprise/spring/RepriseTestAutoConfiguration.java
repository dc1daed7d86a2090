// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import io.reprise.CurrentTransaction;
import io.reprise.Reprise;
import io.reprise.job.Transaction;
import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InMemoryTransaction;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The engine without threads, for {@link io.reprise.spring.test.AutoConfigureReprise}. */
@AutoConfiguration(before = RepriseAutoConfiguration.class)
class RepriseTestAutoConfiguration {

    /** Keeps the worker that opened the Reprise. */
    static final class InlineOpener implements RepriseRuntime.Opener {
        private final ManualClock clock;
        private @Nullable InlineWorker worker;

        InlineOpener(ManualClock clock) {
            this.clock = clock;
        }

        @Override
        public Reprise open(io.reprise.RepriseBuilder builder) {
            InlineWorker opened = InlineWorker.open(builder, clock);
            worker = opened;
            return opened.reprise();
        }
    }

    @Bean
    @ConditionalOnMissingBean
    ManualClock repriseClock() {
        return new ManualClock();
    }

    @Bean(destroyMethod = "")
    JobStore repriseJobStore(ManualClock clock) {
        return new InMemoryJobStore(clock);
    }

    @Bean
    InlineOpener repriseOpener(ManualClock clock) {
        return new InlineOpener(clock);
    }

    @Bean(destroyMethod = "")
    InlineWorker repriseInlineWorker(InlineOpener opener, Reprise reprise) {
        InlineWorker worker = opener.worker;
        if (worker == null) {
            throw new IllegalStateException("The Reprise of the test is another than that of the inline worker");
        }
        return worker;
    }

    @Bean
    CurrentTransaction repriseTransactions(TransactionPhases phases) {
        return new SpringTransactions(phases, RepriseTestAutoConfiguration::bound);
    }

    /** One transaction in memory for each transaction of Spring; it ends as that one ends. */
    private static Transaction bound() {
        if (TransactionSynchronizationManager.getResource(InMemoryTransaction.class)
                instanceof InMemoryTransaction open) {
            return open;
        }
        InMemoryTransaction begun = new InMemoryTransaction();
        TransactionSynchronizationManager.bindResource(InMemoryTransaction.class, begun);
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void suspend() {
                TransactionSynchronizationManager.unbindResourceIfPossible(InMemoryTransaction.class);
            }

            @Override
            public void resume() {
                TransactionSynchronizationManager.bindResource(InMemoryTransaction.class, begun);
            }

            @Override
            public void afterCompletion(int status) {
                TransactionSynchronizationManager.unbindResourceIfPossible(InMemoryTransaction.class);
                if (status == STATUS_COMMITTED) {
                    begun.commit();
                } else {
                    begun.rollback();
                }
            }
        });
        return begun;
    }
}
