// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.AuditNote;
import io.reprise.job.Cancellation;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Requeue;
import io.reprise.store.RequeueResult;
import io.reprise.testkit.fixture.TestClaims;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What others do while a caller's transaction keeps the lock of a queue in MySQL or MariaDB. */
@Timeout(600)
class MySqlQueueLockTest {

    private static final AuditNote NOTE = new AuditNote("ada", null);
    private static final ExecutorService THREADS = Executors.newCachedThreadPool();
    private static MariaDb mariadb;
    private static JdbcJobStore store;

    @BeforeAll
    static void open() {
        mariadb = new MariaDb();
        store = mariadb.store();
        mariadb.execute("insert ignore into reprise_queue_lock (name) values ('a'), ('b')");
    }

    @AfterAll
    static void close() {
        THREADS.shutdownNow();
        mariadb.close();
    }

    @BeforeEach
    void empty() {
        mariadb.empty();
    }

    private static JobSpec.Builder replacing(String queue) {
        return JobSpec.builder("work", "1").queue(queue).key("k", KeyRule.REPLACE);
    }

    private static JobId add(JobSpec.Builder spec) {
        return store.insert(List.of(spec.build())).get(0).id();
    }

    private static Connection begin() throws SQLException {
        Connection connection = mariadb.connection();
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        connection.setAutoCommit(false);
        return connection;
    }

    private static void lock(Connection connection, String queue) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("select name from reprise_queue_lock where name = '" + queue + "' for update");
        }
    }

    @Test
    void a_claim_goes_on_with_the_next_queue() throws SQLException {
        add(replacing("a"));
        JobId other = add(JobSpec.builder("work", "1").queue("b"));
        try (Connection caller = begin()) {
            store.within(JdbcTransaction.of(caller))
                    .insert(List.of(replacing("a").build()));
            assertThat(TestClaims.ids(
                            store.claim(TestClaims.upTo(10).from("a", "b").build())))
                    .containsExactly(other);
            assertThat(store.claim(TestClaims.upTo(10).from("a", "b").build())).isEmpty();
            caller.rollback();
        }
        assertThat(store.claim(TestClaims.upTo(10).from("a", "b").build())).hasSize(1);
    }

    @Test
    void expiry_needs_no_lock_of_the_queue() throws SQLException {
        RetryPolicy brief = RetryPolicy.unset().deadline(Duration.ofNanos(1_000));
        JobId locked = add(JobSpec.builder("work", "1").queue("a").policy(brief));
        JobId free = add(JobSpec.builder("work", "1").queue("b").policy(brief));
        try (Connection other = begin()) {
            lock(other, "a");
            assertThat(store.expire(2)).extracting(Job::id).containsExactlyInAnyOrder(locked, free);
            other.rollback();
        }
    }

    @Test
    void settings_of_a_queue_hold_while_somebody_changes_them() throws SQLException {
        add(JobSpec.builder("work", "1").queue("a"));
        add(JobSpec.builder("work", "1").queue("b"));
        store.pause("a", NOTE);
        store.limit("b", 0, NOTE);
        try (Connection other = begin();
                Statement statement = other.createStatement()) {
            statement.execute("update reprise_queue set paused_why = 'still', max_running = 1");
            assertThat(store.claim(TestClaims.upTo(10).from("a", "b").build())).isEmpty();
            other.rollback();
        }
    }

    /** Moves a job from queue a to b while the task waits for the lock of a; then the task has to follow it. */
    private static <T> T whileTheJobMoves(Callable<T> task) throws Exception {
        try (Connection mover = begin();
                LockWaits waits = new LockWaits(mariadb)) {
            store.within(JdbcTransaction.of(mover))
                    .insert(List.of(replacing("b").build()));
            Future<T> answer = THREADS.submit(task);
            waits.await(answer);
            mover.commit();
            return answer.get(LockWaits.LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @Test
    void a_requeue_follows_the_job_to_its_queue() throws Exception {
        JobId id = add(replacing("a"));
        Requeue toC = new Requeue("retry", Duration.ZERO, null, false, 0, new Requeue.Edit(false, "c", null));
        assertThat(whileTheJobMoves(() -> store.requeue(id, toC, NOTE)).result())
                .isEqualTo(RequeueResult.Result.DONE);
        assertThat(TestClaims.ids(
                        store.claim(TestClaims.upTo(10).from("a", "b", "c").build())))
                .containsExactly(id);
    }

    @Test
    void a_cancellation_follows_the_job_to_its_queue() throws Exception {
        JobId id = add(replacing("a"));
        assertThat(whileTheJobMoves(() -> store.cancel(id, NOTE))).isEqualTo(Cancellation.DONE);
    }
}
