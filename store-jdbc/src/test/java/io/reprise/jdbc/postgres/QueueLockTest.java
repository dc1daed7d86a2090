// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import static io.reprise.testkit.servers.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.JdbcTransaction;
import io.reprise.jdbc.Postgres;
import io.reprise.jdbc.sql.SqlTime;
import io.reprise.job.AuditNote;
import io.reprise.job.Cancellation;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Claim;
import io.reprise.store.Requeue;
import io.reprise.store.RequeueResult;
import io.reprise.testkit.fixture.TestClaims;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What others do while a caller's transaction keeps the lock of a queue. */
@Timeout(300)
class QueueLockTest {

    private static final AuditNote NOTE = new AuditNote("ada", null);
    private static final ExecutorService THREADS = Executors.newCachedThreadPool();
    private static Postgres postgres;
    private static JdbcJobStore store;

    @BeforeAll
    static void open() {
        postgres = new Postgres();
        store = postgres.store();
    }

    @AfterAll
    static void close() {
        THREADS.shutdownNow();
        postgres.close();
    }

    @BeforeEach
    void empty() {
        postgres.empty();
    }

    private static JobSpec.Builder replacing(String queue) {
        return JobSpec.builder("work", "1").queue(queue).key("k", KeyRule.REPLACE);
    }

    private static JobId add(JobSpec.Builder spec) {
        return store.insert(List.of(spec.build())).get(0).id();
    }

    private static Connection begin() throws SQLException {
        Connection connection = postgres.connection();
        connection.setAutoCommit(false);
        return connection;
    }

    private static void lock(Connection connection, String queue) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("select " + PostgresDialect.LOCK_QUEUE.replace(":queue", "?"))) {
            statement.setString(1, queue);
            statement.execute();
        }
    }

    private static boolean isAwaited(String queue) {
        return !postgres.query("select 1 from pg_locks where locktype = 'advisory' and not granted and objid ="
                        + " (hashtext('" + queue + "')::bigint & 4294967295)::oid"
                        + " and database = (select oid from pg_database where datname = current_database())")
                .isEmpty();
    }

    /** Until somebody waits for the queue's lock, or the one who should need not. */
    private static void awaitWaiter(String queue, Future<?> waiter) {
        until(() -> isAwaited(queue) || waiter.isDone());
        assertThat(isAwaited(queue)).as("waits for the lock of queue " + queue).isTrue();
    }

    @Test
    void a_claim_goes_on_with_the_next_queue() throws Exception {
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
        assertThat(postgres.query("show lock_timeout")).containsExactly("0");
    }

    @Test
    void a_claim_keeps_what_it_has_if_the_lock_of_another_queue_is_not_free() throws Exception {
        JobId other = add(JobSpec.builder("work", "1").queue("b"));
        add(JobSpec.builder("work", "1").queue("a"));
        JobId needy = add(JobSpec.builder("work", "1").queue("a").needs(List.of("gpu")));
        // Both have the lock of queue a, so they are claimed one after the other.
        String beside = store.find(needy).orElseThrow().queue();
        try (Connection caller = begin()) {
            lock(caller, "a");
            assertThat(TestClaims.ids(store.claim(
                            TestClaims.upTo(10).from("b", "a", beside).build())))
                    .containsExactly(other);
            caller.rollback();
        }
        assertThat(TestClaims.ids(
                        store.claim(TestClaims.upTo(10).from("b", "a", beside).build())))
                .hasSize(2);
    }

    @Test
    void a_lease_begins_after_the_wait_for_the_lock() throws Exception {
        add(JobSpec.builder("work", "1").queue("a"));
        List<Claim> claims = List.of();
        Instant released = Instant.MAX;
        // Again if the claim gave up before we looked.
        while (claims.isEmpty()) {
            try (Connection other = begin()) {
                lock(other, "a");
                Future<List<Claim>> claim = THREADS.submit(
                        () -> store.claim(TestClaims.upTo(1).from("a").build()));
                while (!isAwaited("a") && !claim.isDone()) {
                    Thread.onSpinWait();
                }
                released = store.now();
                other.rollback();
                claims = claim.get();
            }
        }
        assertThat(claims.get(0).claimedAt()).isAfterOrEqualTo(released);
        String expires = postgres.query("select expires_at from reprise_lease").get(0);
        assertThat(SqlTime.instant(Long.parseLong(expires))).isAfterOrEqualTo(released.plus(TestClaims.LONG));
    }

    /** Moves a job from queue a to b while the task waits for the lock of a, and looks that it then waits for b's. */
    private static <T> T whileTheJobMoves(Callable<T> task) throws Exception {
        try (Connection mover = begin();
                Connection other = begin()) {
            store.within(JdbcTransaction.of(mover))
                    .insert(List.of(replacing("b").build()));
            Future<T> answer = THREADS.submit(task);
            awaitWaiter("a", answer);
            lock(other, "b");
            mover.commit();
            awaitWaiter("b", answer);
            other.rollback();
            return answer.get();
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

    @Test
    void expiry_passes_a_locked_queue() throws Exception {
        RetryPolicy brief = RetryPolicy.unset().deadline(Duration.ofNanos(1_000));
        JobId locked = add(JobSpec.builder("work", "1").queue("a").policy(brief));
        JobId free = add(JobSpec.builder("work", "1").queue("b").policy(brief));
        try (Connection other = begin()) {
            lock(other, "a");
            assertThat(store.expire(1)).extracting(Job::id).containsExactly(free);
            assertThat(store.expire(1)).isEmpty();
            other.rollback();
        }
        assertThat(store.expire(1)).extracting(Job::id).containsExactly(locked);
    }
}
