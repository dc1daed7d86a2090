// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import com.mongodb.client.MongoClient;
import io.reprise.CurrentTransaction;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.JdbcStoreBuilder;
import io.reprise.jdbc.JdbcTransaction;
import io.reprise.job.Transaction;
import io.reprise.mongodb.MongoJobStore;
import io.reprise.mongodb.MongoStoreBuilder;
import io.reprise.store.JobStore;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/** The store in the database of the application, and the transactions of that database. */
final class StoreConfiguration {

    private static final String KEEP_ATTEMPTS = "reprise.store.keep-attempts";

    private StoreConfiguration() {}

    /** The phases of transactions, wherever Spring manages them. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(TransactionExecutionListener.class)
    static class Transactions {

        @Bean
        static TransactionPhases repriseTransactionPhases() {
            return new TransactionPhases();
        }
    }

    /** A store on the MongoDB of the context. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({MongoJobStore.class, MongoDatabaseFactory.class})
    @ConditionalOnBean(type = "org.springframework.data.mongodb.MongoDatabaseFactory")
    @ConditionalOnMissingBean(JobStore.class)
    @ConditionalOnProperty(prefix = "reprise.store", name = "kind", havingValue = "mongodb", matchIfMissing = true)
    static class MongoDb {

        @Bean(destroyMethod = "")
        JobStore repriseJobStore(ConfigurableListableBeanFactory beans, RepriseProperties properties) {
            if (properties.store().kind() == null && hasJdbc(beans)) {
                throw new RepriseConfigurationException("There are a DataSource and a MongoDB: set"
                        + " reprise.store.kind to jdbc or mongodb, whichever is to hold the jobs");
            }
            MongoStoreBuilder builder = MongoJobStore.builder();
            Integer attempts = properties.store().keepAttempts();
            if (attempts != null) {
                RepriseConfigurationException.check(KEEP_ATTEMPTS, () -> builder.keepAttempts(attempts));
            }
            return builder.of(
                    only(beans, MongoClient.class),
                    only(beans, MongoDatabaseFactory.class).getMongoDatabase().getName());
        }

        @Bean
        @ConditionalOnMissingBean(CurrentTransaction.class)
        CurrentTransaction repriseTransactions(ConfigurableListableBeanFactory beans, TransactionPhases phases) {
            MongoSessions sessions = new MongoSessions(only(beans, MongoDatabaseFactory.class));
            return new SpringTransactions(phases, sessions::joined);
        }

        private static boolean hasJdbc(ConfigurableListableBeanFactory beans) {
            return ClassUtils.isPresent("io.reprise.jdbc.JdbcJobStore", beans.getBeanClassLoader())
                    && beans.getBeanNamesForType(DataSource.class, true, false).length > 0;
        }

        private static <T> T only(ConfigurableListableBeanFactory beans, Class<T> type) {
            T one = beans.getBeanProvider(type).getIfUnique();
            if (one == null) {
                throw new RepriseConfigurationException("Reprise needs one " + type.getSimpleName() + ", but there are "
                        + List.of(beans.getBeanNamesForType(type)) + ": mark the one for jobs as @Primary");
            }
            return one;
        }
    }

    /** A store on the DataSource of the context. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({JdbcJobStore.class, ConnectionHolder.class})
    @ConditionalOnBean(DataSource.class)
    @ConditionalOnMissingBean(JobStore.class)
    @ConditionalOnProperty(prefix = "reprise.store", name = "kind", havingValue = "jdbc", matchIfMissing = true)
    static class Jdbc {

        @Bean
        RepriseDataSource repriseDataSource(ConfigurableListableBeanFactory beans, RepriseProperties properties) {
            return new RepriseDataSource(choose(beans, properties.store().datasource()));
        }

        @Bean(destroyMethod = "")
        JobStore repriseJobStore(RepriseDataSource source, RepriseProperties properties) {
            JdbcStoreBuilder builder = JdbcJobStore.builder();
            if (properties.store().pooler()) {
                builder.pollOnly();
            }
            Integer attempts = properties.store().keepAttempts();
            if (attempts != null) {
                RepriseConfigurationException.check(KEEP_ATTEMPTS, () -> builder.keepAttempts(attempts));
            }
            return builder.pooled(source.source());
        }

        @Bean
        @ConditionalOnMissingBean(CurrentTransaction.class)
        CurrentTransaction repriseTransactions(RepriseDataSource source, TransactionPhases phases) {
            return new SpringTransactions(phases, () -> joined(source.source()));
        }

        private static @Nullable Transaction joined(DataSource source) {
            return TransactionSynchronizationManager.getResource(source) instanceof ConnectionHolder holder
                    ? JdbcTransaction.of(holder::getConnection)
                    : null;
        }

        private static DataSource choose(ConfigurableListableBeanFactory beans, @Nullable String name) {
            DataSource chosen;
            if (name == null) {
                chosen = beans.getBeanProvider(DataSource.class).getIfUnique();
            } else {
                chosen = beans.containsBean(name) && beans.isTypeMatch(name, DataSource.class)
                        ? beans.getBean(name, DataSource.class)
                        : null;
            }
            if (chosen == null) {
                String there =
                        List.of(beans.getBeanNamesForType(DataSource.class)).toString();
                throw new RepriseConfigurationException(
                        name == null
                                ? "There are several DataSources " + there
                                        + ": set reprise.store.datasource to the one for jobs, or mark one as @Primary"
                                : "reprise.store.datasource=" + name
                                        + ": there is no such DataSource bean; write one of " + there);
            }
            // Spring binds the connection of a transaction to the source below such a proxy.
            return chosen instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null
                    ? proxy.getTargetDataSource()
                    : chosen;
        }
    }

    /** The DataSource that jobs live in; not a bean of class DataSource, which would compete with the application's. */
    record RepriseDataSource(DataSource source) {}
}
