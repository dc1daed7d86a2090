// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.job.JobId;
import io.reprise.testkit.servers.PostgresServer;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Jobs and the transactions of Spring Data MongoDB. The server is the one of {@code REPRISE_TEST_MONGODB_URI}, or one in
 * memory that has no transactions.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MongoTransactionTest {

    static final JobType<String> NOTE = JobType.of("note", String.class);
    static final JobType<String> BOOK = JobType.of("book", String.class);
    private static final Duration LONG = Duration.ofMinutes(1);
    private static final String VARIABLE = "REPRISE_TEST_MONGODB_URI";

    /** A document of the application. */
    record Booking(String text) {}

    static class Beans {
        @Bean
        Handlers handlers() {
            return new Handlers();
        }

        /** Spring Boot makes none by itself. */
        @Bean
        MongoTransactionManager transactionManager(MongoDatabaseFactory factory) {
            return new MongoTransactionManager(factory);
        }
    }

    static class Handlers {
        final BlockingQueue<String> noted = new LinkedBlockingQueue<>();

        @Autowired
        MongoTemplate mongo;

        @Autowired
        Reprise reprise;

        @RepriseJob("note")
        void note(String text) {
            noted.add(text);
        }

        @RepriseJob(value = "book", transactional = true, retry = "default")
        public void book(String text, JobContext job) {
            mongo.insert(new Booking(text));
            reprise.enqueue(NOTE.job("after " + text));
            if (job.attempt() == 1) {
                throw new IllegalStateException("after the work, before the commit");
            }
        }
    }

    private MongoServer substitute;
    private String uri = "";
    private ConfigurableApplicationContext context;
    private Reprise reprise;
    private MongoTemplate mongo;
    private TransactionTemplate transaction;
    private Handlers handlers;

    @BeforeAll
    void start() {
        String real = System.getenv(VARIABLE);
        substitute = real == null ? new MongoServer(new MemoryBackend()) : null;
        uri = substitute == null ? real : substitute.bindAndGetConnectionString();
        context = Contexts.startOnMongo(Beans.class, mongo("types.book.retry.base=10ms", "worker.poll=1m"));
        reprise = context.getBean(Reprise.class);
        mongo = context.getBean(MongoTemplate.class);
        handlers = context.getBean(Handlers.class);
        transaction = new TransactionTemplate(context.getBean(MongoTransactionManager.class));
        mongo.createCollection(Booking.class);
    }

    /** The properties with those of a fresh database, which have other names since Spring Boot 4. */
    private String[] mongo(String... reprise) {
        String database = "reprise_test_" + UUID.randomUUID().toString().replace("-", "");
        String[] all = new String[reprise.length + 4];
        for (int i = 0; i < reprise.length; i++) {
            all[i] = "reprise." + reprise[i];
        }
        all[reprise.length] = "spring.data.mongodb.uri=" + uri;
        all[reprise.length + 1] = "spring.data.mongodb.database=" + database;
        all[reprise.length + 2] = "spring.mongodb.uri=" + uri;
        all[reprise.length + 3] = "spring.mongodb.database=" + database;
        return all;
    }

    @AfterAll
    void stop() {
        if (substitute == null) {
            mongo.getDb().drop();
        }
        context.close();
        if (substitute != null) {
            substitute.shutdownNow();
        }
    }

    @BeforeEach
    void forget() {
        handlers.noted.clear();
        mongo.remove(Booking.class).all();
    }

    private void needTransactions() {
        assumeTrue(substitute == null, "The server in memory has no transactions: name a real one in " + VARIABLE);
    }

    private boolean exists(JobId id) {
        return reprise.find(id).isPresent();
    }

    @Test
    void a_job_lives_in_the_database_of_the_application() {
        JobId id = reprise.enqueue(NOTE.job("alone"));
        assertThat(reprise.await(id, LONG).succeeded()).isTrue();
        assertThat(mongo.collectionExists("reprise_jobs")).isTrue();
    }

    @Test
    void an_enqueue_joins_the_transaction_and_is_rolled_back_with_it() {
        needTransactions();
        JobId[] id = new JobId[1];
        transaction.executeWithoutResult(status -> {
            mongo.insert(new Booking("rolled back"));
            id[0] = reprise.enqueue(NOTE.job("rolled back"));
            assertThat(exists(id[0])).isFalse();
            status.setRollbackOnly();
        });
        assertThat(mongo.findAll(Booking.class)).isEmpty();
        assertThat(exists(id[0])).isFalse();
    }

    @Test
    void the_worker_wakes_after_the_commit_without_a_poll() throws InterruptedException {
        needTransactions();
        transaction.executeWithoutResult(status -> {
            mongo.insert(new Booking("kept"));
            reprise.enqueue(NOTE.job("kept"));
        });
        assertThat(handlers.noted.poll(30, TimeUnit.SECONDS)).isEqualTo("kept");
        assertThat(mongo.findAll(Booking.class)).hasSize(1);
    }

    @Test
    void handler_completion_and_next_job_are_one_commit() throws InterruptedException {
        needTransactions();
        JobId id = reprise.enqueue(BOOK.job("once"));
        assertThat(reprise.await(id, LONG).succeeded()).isTrue();
        assertThat(reprise.attempts(id)).hasSize(2);
        assertThat(mongo.findAll(Booking.class)).hasSize(1);
        assertThat(handlers.noted.poll(30, TimeUnit.SECONDS)).isEqualTo("after once");
        assertThat(handlers.noted).isEmpty();
    }

    @Test
    void a_job_that_is_enqueued_after_the_commit_is_not_lost() {
        needTransactions();
        JobId[] id = new JobId[1];
        transaction.executeWithoutResult(status -> {
            mongo.insert(new Booking("first"));
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCommit() {
                    id[0] = reprise.enqueue(NOTE.job("later").after(Duration.ofDays(1)));
                }
            });
        });
        assertThat(exists(id[0])).isTrue();
    }

    @Test
    void a_new_transaction_within_another_is_independent_of_it() {
        needTransactions();
        JobId[] ids = new JobId[2];
        TransactionTemplate inner = new TransactionTemplate(context.getBean(MongoTransactionManager.class));
        inner.setPropagationBehavior(TransactionTemplate.PROPAGATION_REQUIRES_NEW);
        transaction.executeWithoutResult(status -> {
            ids[0] = reprise.enqueue(NOTE.job("outer").after(Duration.ofDays(1)));
            inner.executeWithoutResult(
                    nested -> ids[1] = reprise.enqueue(NOTE.job("inner").after(Duration.ofDays(1))));
            status.setRollbackOnly();
        });
        assertThat(exists(ids[0])).isFalse();
        assertThat(exists(ids[1])).isTrue();
    }

    @Test
    void a_read_only_transaction_is_refused_with_what_to_write() {
        needTransactions();
        TransactionTemplate readOnly = new TransactionTemplate(context.getBean(MongoTransactionManager.class));
        readOnly.setReadOnly(true);
        assertThatIllegalStateException()
                .isThrownBy(() -> readOnly.executeWithoutResult(status -> reprise.enqueue(NOTE.job("x"))))
                .withMessageContaining("readOnly = true");
    }

    @Test
    void an_application_with_both_kinds_of_databases_must_choose() {
        String url = PostgresServer.shared().freshDatabaseUrl();
        Throwable thrown = catchThrowable(
                () -> Contexts.startOnBoth(url, Object.class, mongo()).close());
        assertThat(NestedExceptionUtils.getMostSpecificCause(thrown))
                .isInstanceOf(RepriseConfigurationException.class)
                .hasMessageContaining("reprise.store.kind");
        try (ConfigurableApplicationContext jdbc = Contexts.startOnBoth(url, Object.class, mongo("store.kind=jdbc"))) {
            assertThat(jdbc.getBean("repriseJobStore").getClass().getSimpleName())
                    .isEqualTo("JdbcJobStore");
        }
    }
}
