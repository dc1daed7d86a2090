// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import jakarta.persistence.EntityManager;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Jobs and Spring's transactions. Each trap that db-scheduler had is a test with the number of its issue. The pool hands
 * out connections without autocommit, as in most of those issues.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SpringTransactionTest {

    static final JobType<String> NOTE = JobType.of("note", String.class);
    static final JobType<String> BOOK = JobType.of("book", String.class);
    private static final Duration LONG = Duration.ofMinutes(1);

    static class Beans {
        @Bean
        Handlers handlers() {
            return new Handlers();
        }
    }

    static class Handlers {
        final BlockingQueue<String> noted = new LinkedBlockingQueue<>();

        @Autowired
        JdbcTemplate jdbc;

        @Autowired
        Reprise reprise;

        @RepriseJob("note")
        void note(String text) {
            noted.add(text + " " + System.nanoTime());
        }

        @RepriseJob(value = "book", transactional = true, retry = "default")
        public void book(String text, JobContext job) {
            jdbc.update("insert into booking values (?)", text);
            reprise.enqueue(NOTE.job("after " + text));
            if (job.attempt() == 1 && text.startsWith("flaky")) {
                throw new IllegalStateException("after the work, before the commit");
            }
        }

        @RepriseSchedule(name = "yearly", cron = "0 0 1 1 *")
        void yearly() {}
    }

    private ConfigurableApplicationContext context;
    private Reprise reprise;
    private JdbcTemplate jdbc;
    private TransactionTemplate transaction;
    private Handlers handlers;

    @BeforeAll
    void start() {
        context = Contexts.startWithJpa(
                Contexts.freshUrl(),
                Beans.class,
                "spring.datasource.hikari.auto-commit=false",
                "reprise.types.book.retry.base=10ms",
                "reprise.worker.poll=1m");
        reprise = context.getBean(Reprise.class);
        jdbc = context.getBean(JdbcTemplate.class);
        handlers = context.getBean(Handlers.class);
        transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
        transaction.executeWithoutResult(status -> jdbc.execute("create table booking (text varchar(100))"));
    }

    @AfterAll
    void stop() {
        context.close();
    }

    @BeforeEach
    void forget() {
        handlers.noted.clear();
        transaction.executeWithoutResult(status -> jdbc.update("delete from booking"));
    }

    private boolean exists(JobId id) {
        return reprise.find(id).isPresent();
    }

    private int bookings() {
        Integer count =
                transaction.execute(status -> jdbc.queryForObject("select count(*) from booking", Integer.class));
        return count == null ? -1 : count;
    }

    @Test
    void issue_146_an_enqueue_does_not_commit_the_callers_transaction() {
        JobId[] id = new JobId[1];
        transaction.executeWithoutResult(status -> {
            jdbc.update("insert into booking values ('rolled back')");
            id[0] = reprise.enqueue(NOTE.job("rolled back"));
            assertThat(exists(id[0])).isFalse();
            status.setRollbackOnly();
        });
        assertThat(bookings()).isZero();
        assertThat(exists(id[0])).isFalse();
    }

    @Test
    void issue_146_a_job_is_there_with_the_commit_and_the_worker_wakes_without_a_poll() throws InterruptedException {
        transaction.executeWithoutResult(status -> {
            jdbc.update("insert into booking values ('kept')");
            reprise.enqueue(NOTE.job("kept"));
        });
        long committed = System.nanoTime();
        String noted = handlers.noted.poll(30, TimeUnit.SECONDS);
        assertThat(noted).startsWith("kept ");
        assertThat(bookings()).isEqualTo(1);
        // The worker polls once a minute, so only the wake-up can be so quick. Printed, not asserted: it is a timing.
        System.out.printf("wake-up after commit: %.1f ms%n", (Long.parseLong(noted.substring(5)) - committed) / 1e6);
    }

    @Test
    void issue_202_a_pool_without_autocommit_can_store_claim_and_settle() {
        JobId id = reprise.enqueue(NOTE.job("alone"));
        assertThat(reprise.await(id, LONG).succeeded()).isTrue();
    }

    @Test
    void issue_204_a_schedule_is_stored_at_the_start_without_autocommit() {
        assertThat(reprise.findSchedule("yearly")).isPresent();
    }

    @Test
    void issue_351_a_job_that_is_enqueued_outside_a_transaction_is_committed() {
        JobId id = reprise.enqueue(NOTE.job("alone").after(Duration.ofDays(1)));
        assertThat(exists(id)).isTrue();
    }

    @Test
    void issue_276_handler_completion_and_next_job_are_one_commit() throws InterruptedException {
        JobId id = reprise.enqueue(BOOK.job("flaky"));
        assertThat(reprise.await(id, LONG).succeeded()).isTrue();
        assertThat(reprise.attempts(id)).hasSize(2);
        assertThat(bookings()).isEqualTo(1);
        assertThat(handlers.noted.poll(30, TimeUnit.SECONDS)).startsWith("after flaky");
        assertThat(handlers.noted).isEmpty();
    }

    @Test
    void a_connection_of_the_caller_keeps_its_autocommit_mode_and_stays_open() {
        DataSource source = context.getBean(DataSource.class);
        transaction.executeWithoutResult(status -> {
            Connection before = DataSourceUtils.getConnection(source);
            reprise.enqueue(NOTE.job("joined"));
            Connection after = DataSourceUtils.getConnection(source);
            assertThat(after).isSameAs(before);
            assertThat(autoCommit(after)).isFalse();
            status.setRollbackOnly();
        });
    }

    private static boolean autoCommit(Connection connection) {
        try {
            assertThat(connection.isClosed()).isFalse();
            return connection.getAutoCommit();
        } catch (java.sql.SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void a_job_that_is_enqueued_after_the_commit_is_not_lost() {
        for (PlatformTransactionManager manager :
                new PlatformTransactionManager[] {context.getBean(PlatformTransactionManager.class), declared(context)
                }) {
            JobId[] id = new JobId[1];
            new TransactionTemplate(manager).executeWithoutResult(status -> {
                jdbc.update("insert into booking values ('first')");
                TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                    @Override
                    public void afterCommit() {
                        id[0] = reprise.enqueue(NOTE.job("later").after(Duration.ofDays(1)));
                    }
                });
            });
            assertThat(exists(id[0])).isTrue();
        }
    }

    /** A transaction manager that the application declares itself, so that Spring Boot does not customize it. */
    private static PlatformTransactionManager declared(ConfigurableApplicationContext context) {
        return (PlatformTransactionManager) context.getAutowireCapableBeanFactory()
                .initializeBean(new JdbcTransactionManager(context.getBean(DataSource.class)), "declared");
    }

    @Test
    void a_nested_transaction_rolls_back_its_own_jobs_only() {
        PlatformTransactionManager manager = declared(context);
        TransactionTemplate nested = new TransactionTemplate(manager);
        nested.setPropagationBehavior(TransactionTemplate.PROPAGATION_NESTED);
        JobId[] ids = new JobId[3];
        new TransactionTemplate(manager).executeWithoutResult(status -> {
            nested.executeWithoutResult(
                    inner -> ids[0] = reprise.enqueue(NOTE.job("kept").after(Duration.ofDays(1))));
            nested.executeWithoutResult(inner -> {
                ids[1] = reprise.enqueue(NOTE.job("rolled back").after(Duration.ofDays(1)));
                inner.setRollbackOnly();
            });
            // A savepoint that was released is no commit: the transaction is still to be joined.
            ids[2] = reprise.enqueue(NOTE.job("kept too").after(Duration.ofDays(1)));
            assertThat(exists(ids[2])).isFalse();
        });
        assertThat(exists(ids[0])).isTrue();
        assertThat(exists(ids[1])).isFalse();
        assertThat(exists(ids[2])).isTrue();
    }

    @Test
    void a_new_transaction_within_another_is_independent_of_it() {
        JobId[] ids = new JobId[2];
        TransactionTemplate inner = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
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
    void jpa_and_jooq_share_the_transaction_with_the_job() {
        EntityManager entities = context.getBean(EntityManager.class);
        DSLContext jooq = context.getBean(DSLContext.class);
        JobId[] id = new JobId[1];
        assertThatThrownBy(() -> transaction.executeWithoutResult(status -> {
                    entities.createNativeQuery("insert into booking values ('jpa')")
                            .executeUpdate();
                    jooq.execute("insert into booking values ('jooq')");
                    id[0] = reprise.enqueue(NOTE.job("joined"));
                    assertThat(entities.createNativeQuery("select text from booking")
                                    .getResultList())
                            .hasSize(2);
                    throw new IllegalStateException("roll back");
                }))
                .hasMessage("roll back");
        assertThat(bookings()).isZero();
        assertThat(exists(id[0])).isFalse();
    }

    @Test
    void a_read_only_transaction_is_refused_with_what_to_write() {
        TransactionTemplate readOnly = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
        readOnly.setReadOnly(true);
        assertThatIllegalStateException()
                .isThrownBy(() -> readOnly.executeWithoutResult(status -> reprise.enqueue(NOTE.job("x"))))
                .withMessageContaining("readOnly = true");
    }

    @Test
    void the_pool_of_the_application_is_the_only_one() {
        assertThat(context.getBeansOfType(DataSource.class)).hasSize(1);
        // Pools of Reprise's own have its name.
        assertThat(Thread.getAllStackTraces().keySet().stream()
                        .map(Thread::getName)
                        .filter(name -> name.startsWith("reprise") && name.contains("housekeeper")))
                .isEmpty();
        assertThat(reprise.find(JobQuery.all().state(JobState.RUNNING)).items()).isEmpty();
    }
}
