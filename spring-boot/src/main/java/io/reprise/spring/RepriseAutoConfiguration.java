// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import io.reprise.CurrentTransaction;
import io.reprise.FollowUpRule;
import io.reprise.JobInterceptor;
import io.reprise.JobListener;
import io.reprise.PayloadCodec;
import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.Resource;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.LazyInitializationExcludeFilter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/**
 * Configures Reprise from properties and beans. It names the classes that come before it, because they are in other
 * packages since Spring Boot 4.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
            "org.springframework.boot.autoconfigure.data.mongo.MongoDataAutoConfiguration",
            "org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration",
            "org.springframework.boot.autoconfigure.transaction.TransactionAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.opentelemetry.OpenTelemetryAutoConfiguration",
            "org.springframework.boot.opentelemetry.autoconfigure.OpenTelemetrySdkAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration",
            "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration",
            "org.springframework.boot.jackson2.autoconfigure.Jackson2AutoConfiguration",
            "org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnProperty(prefix = "reprise", name = "enabled", havingValue = "true", matchIfMissing = true)
@ConditionalOnMissingBean(Reprise.class)
@EnableConfigurationProperties(RepriseProperties.class)
@Import({
    CodecConfiguration.Jackson3.class,
    CodecConfiguration.Jackson2.class,
    StoreConfiguration.Transactions.class,
    StoreConfiguration.MongoDb.class,
    StoreConfiguration.Jdbc.class,
    MetricsConfiguration.class,
    TracingConfiguration.class
})
class RepriseAutoConfiguration {

    @Bean
    static LazyInitializationExcludeFilter repriseIsNeverLazy() {
        return LazyInitializationExcludeFilter.forBeanTypes(Reprise.class, RepriseLifecycle.class);
    }

    @Bean
    KnownTypes repriseKnownTypes() {
        return new KnownTypes();
    }

    @Bean
    @ConditionalOnMissingBean
    RepriseRuntime.Opener repriseOpener() {
        return RepriseBuilder::open;
    }

    @Bean
    @DependsOnDatabaseInitialization
    RepriseRuntime repriseRuntime(
            RepriseProperties properties, Environment environment, RepriseBeans beans, KnownTypes types) {
        List<String> problems = PropertyNames.problems(environment);
        RepriseBuilder builder = Reprise.builder();
        new BuilderSettings(builder, problems).apply(properties, phaseTimeout(environment));
        RepriseConfigurationException.throwIfAny(problems);
        JobStore store = beans.store();
        builder.store(store)
                .joins(beans.transactions())
                .interceptor(types)
                .migrate(properties.schema() == RepriseProperties.Schema.MIGRATE);
        if (properties.schema() == RepriseProperties.Schema.VALIDATE) {
            store.requirePrepared();
        }
        PayloadCodec codec = beans.codec();
        if (codec != null) {
            builder.codec(codec);
        }
        beans.addTo(builder);
        return new RepriseRuntime(builder, beans.opener().open(builder), beans.transactions(), types);
    }

    @Bean
    RepriseBeans repriseBeans(ConfigurableListableBeanFactory factory) {
        return new RepriseBeans(factory);
    }

    @Bean(destroyMethod = "close")
    Reprise reprise(RepriseRuntime runtime) {
        return runtime.reprise();
    }

    @Bean
    RepriseLifecycle repriseLifecycle(
            RepriseRuntime runtime, RepriseProperties properties, ConfigurableListableBeanFactory factory) {
        return new RepriseLifecycle(runtime, properties, factory);
    }

    private static Duration phaseTimeout(Environment environment) {
        return environment.getProperty(
                "spring.lifecycle.timeout-per-shutdown-phase", Duration.class, Duration.ofSeconds(30));
    }

    /** The beans of the application that take part. */
    record RepriseBeans(ConfigurableListableBeanFactory factory) {

        JobStore store() {
            JobStore store = factory.getBeanProvider(JobStore.class).getIfUnique();
            if (store == null) {
                throw new RepriseConfigurationException(
                        "Reprise has no database for its jobs: add"
                                + " spring-boot-starter-jdbc with a driver and set spring.datasource.url, or add"
                                + " reprise-spring-boot-starter-mongodb, or declare a bean of class JobStore. reprise.enabled=false leaves Reprise out");
            }
            return store;
        }

        CurrentTransaction transactions() {
            return factory.getBeanProvider(CurrentTransaction.class).getIfUnique(() -> CurrentTransaction.NONE);
        }

        @org.jspecify.annotations.Nullable
        PayloadCodec codec() {
            return factory.getBeanProvider(PayloadCodec.class).getIfUnique();
        }

        RepriseRuntime.Opener opener() {
            return factory.getBean(RepriseRuntime.Opener.class);
        }

        void addTo(RepriseBuilder builder) {
            ordered(JobListener.class).orderedStream().forEach(builder::listener);
            ordered(JobInterceptor.class)
                    .orderedStream()
                    .filter(interceptor -> !(interceptor instanceof KnownTypes))
                    .forEach(builder::interceptor);
            ordered(FollowUpRule.class).orderedStream().forEach(builder::followUps);
            ordered(Queue.class).orderedStream().forEach(builder::queues);
            ordered(Resource.class).orderedStream().forEach(builder::resources);
            ordered(RepriseCustomizer.class).orderedStream().forEach(customizer -> customizer.customize(builder));
        }

        private <T> ObjectProvider<T> ordered(Class<T> type) {
            return factory.getBeanProvider(type);
        }
    }
}
