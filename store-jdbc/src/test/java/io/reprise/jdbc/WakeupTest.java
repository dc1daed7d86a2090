// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.JobSpec;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;

class WakeupTest {

    private static final List<JobSpec> ONE =
            List.of(JobSpec.builder("work", "1").build());
    private static Postgres postgres;

    @BeforeAll
    static void open() {
        postgres = new Postgres();
    }

    @AfterAll
    static void close() {
        postgres.close();
    }

    @Test
    void an_insert_wakes_another_store() throws InterruptedException {
        Semaphore woken = new Semaphore(0);
        try (JdbcJobStore other = JdbcJobStore.postgresql(postgres.source())) {
            other.onWake(woken::release);
            // The first wake-up says that it listens.
            assertThat(woken.tryAcquire(3, TimeUnit.MINUTES)).isTrue();
            postgres.store().insert(ONE);
            assertThat(woken.tryAcquire(3, TimeUnit.MINUTES)).isTrue();
        }
    }

    @Test
    void an_insert_wakes_another_store_of_a_database_that_cannot_notify() throws InterruptedException {
        Semaphore woken = new Semaphore(0);
        try (MariaDb maria = new MariaDb();
                JdbcJobStore other = maria.open(JdbcJobStore.builder())) {
            other.onWake(woken::release);
            // Each has a block of ids. The second job has a smaller id than the first.
            maria.store().insert(ONE);
            assertThat(woken.tryAcquire(3, TimeUnit.MINUTES)).isTrue();
            try (JdbcJobStore third = maria.open(JdbcJobStore.builder())) {
                third.insert(ONE);
                assertThat(woken.tryAcquire(3, TimeUnit.MINUTES)).isTrue();
                maria.store().insert(ONE);
                assertThat(woken.tryAcquire(3, TimeUnit.MINUTES)).isTrue();
            }
        }
    }

    @Test
    void a_lost_connection_is_listened_on_again() throws InterruptedException {
        Semaphore woken = new Semaphore(0);
        try (JdbcJobStore other = JdbcJobStore.postgresql(postgres.source())) {
            other.onWake(woken::release);
            assertThat(woken.tryAcquire(3, TimeUnit.MINUTES)).isTrue();
            postgres.execute("select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen reprise'");
            assertThat(woken.tryAcquire(3, TimeUnit.MINUTES)).isTrue();
        }
    }

    @Test
    void a_listener_that_fails_is_called_again_and_hinders_no_insert() throws InterruptedException {
        Semaphore woken = new Semaphore(0);
        try (JdbcJobStore other = JdbcJobStore.postgresql(postgres.source())) {
            other.onWake(() -> {
                woken.release();
                throw new IllegalStateException("a listener's own mistake");
            });
            assertThat(woken.tryAcquire(3, TimeUnit.MINUTES)).isTrue();
            postgres.store().insert(ONE);
            assertThat(woken.tryAcquire(3, TimeUnit.MINUTES)).isTrue();
            assertThat(other.insert(ONE)).hasSize(1);
            assertThat(woken.tryAcquire(3, TimeUnit.MINUTES)).isTrue();
        }
    }

    @Test
    void a_store_that_polls_only_notifies_nobody() throws SQLException {
        try (JdbcJobStore polling = JdbcJobStore.builder().pollOnly().postgresql(postgres.source());
                Connection connection = postgres.connection();
                Statement statement = connection.createStatement()) {
            statement.execute("listen reprise");
            Semaphore woken = new Semaphore(0);
            polling.onWake(woken::release);
            polling.insert(ONE);
            assertThat(woken.availablePermits())
                    .as("wake-ups in the same store")
                    .isEqualTo(1);
            // What the server has to deliver comes with the answer to the next statement.
            postgres.execute("select pg_notify('reprise', 'end')");
            var notifications = connection.unwrap(PGConnection.class).getNotifications(180_000);
            assertThat(notifications).extracting(each -> each.getParameter()).containsExactly("end");
        }
    }
}
