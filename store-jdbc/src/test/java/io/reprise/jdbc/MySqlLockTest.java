// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.AuditNote;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.store.Claim;
import io.reprise.testkit.faults.Insist;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestSettlements;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who waits for whom in MySQL and MariaDB, and what a transaction sees that began before. */
@Timeout(600)
class MySqlLockTest {

    private static final ExecutorService THREADS = Executors.newCachedThreadPool();
    private static final JobSpec SPEC = JobSpec.builder("work", "1").build();
    private static MariaDb mariadb;
    private static JdbcJobStore store;

    @BeforeAll
    static void open() {
        mariadb = new MariaDb();
        store = mariadb.store();
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

    /** As applications have it unless they change it: what is read is as it was at the first read. */
    private static Connection begin() throws SQLException {
        Connection connection = mariadb.connection();
        connection.setAutoCommit(false);
        assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_REPEATABLE_READ);
        // A lock that is not granted must not take the server's default of 50 s.
        execute(connection, "set innodb_lock_wait_timeout = 5");
        execute(connection, "select count(*) from reprise_job");
        return connection;
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Connections that run this once, before they prepare a statement with this text for the first time. */
    private static DataSource before(String text, Runnable action) {
        AtomicBoolean first = new AtomicBoolean(true);
        return proxy(DataSource.class, (source, method, args) -> {
            if (!method.getName().equals("getConnection")) {
                throw new UnsupportedOperationException(method.getName());
            }
            Connection connection = mariadb.connection();
            return proxy(Connection.class, (proxy, called, values) -> {
                if (called.getName().equals("prepareStatement")
                        && values[0].toString().contains(text)
                        && first.getAndSet(false)) {
                    action.run();
                }
                return called.invoke(connection, values);
            });
        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(MySqlLockTest.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @Test
    void a_job_whose_due_time_changes_between_look_and_lock_is_claimed_once() {
        JobId id = store.insert(List.of(SPEC)).get(0).id();
        // As if another worker had settled the job meanwhile and it were due again.
        Runnable move = () -> mariadb.execute("update reprise_job set due_at = due_at + 1");
        try (JdbcJobStore other = JdbcJobStore.mysql(before("j.lane < 3", move))) {
            List<Claim> claims = other.claim(TestClaims.upTo(20).build());
            assertThat(claims).hasSize(1);
            assertThat(claims.get(0).jobs()).extracting(Job::id).containsExactly(id);
        }
    }

    private static Enqueued insert(Connection connection, JobSpec spec) {
        return store.within(JdbcTransaction.of(connection))
                .insert(List.of(spec))
                .get(0);
    }

    @Test
    void a_lease_is_renewed_while_a_caller_settles_under_it() throws SQLException {
        store.insert(List.of(SPEC, SPEC));
        Claim claim = store.claim(TestClaims.upTo(2).build()).get(0);
        try (Connection caller = begin()) {
            store.within(JdbcTransaction.of(caller))
                    .settle(List.of(TestSettlements.success(claim, claim.jobs().get(0))), List.of());
            hindersNobody(() -> {
                assertThat(store.renew("worker-1", List.of(claim.token()), TestClaims.LONG)
                                .lost())
                        .isEmpty();
                assertThat(store.settle(
                                        List.of(TestSettlements.retry(
                                                claim, claim.jobs().get(1), Duration.ofHours(1))),
                                        List.of())
                                .stale())
                        .isEmpty();
                store.insert(List.of(SPEC));
                assertThat(store.claim(TestClaims.upTo(1).build())).hasSize(1);
            });
            caller.commit();
        }
        assertThat(store.queues().get(0).count(JobState.SUCCEEDED)).isEqualTo(1);
    }

    @Test
    void a_key_that_was_let_go_after_the_callers_first_read_is_free() throws SQLException {
        JobSpec keyed = SPEC.toBuilder().key("k", KeyRule.KEEP).build();
        store.insert(List.of(keyed));
        Claim claim = store.claim(TestClaims.upTo(1).build()).get(0);
        try (Connection caller = begin()) {
            store.settle(List.of(TestSettlements.success(claim, claim.jobs().get(0))), List.of(claim.token()));
            assertThat(insert(caller, keyed).created()).isTrue();
            caller.commit();
        }
    }

    @Test
    void keys_that_were_taken_after_the_callers_first_read_are_met() throws SQLException {
        JobSpec keyed = SPEC.toBuilder().key("k", KeyRule.KEEP).build();
        JobSpec once = SPEC.toBuilder().idempotencyKey("i").build();
        try (Connection caller = begin()) {
            JobId holder = store.insert(List.of(keyed)).get(0).id();
            JobId first = store.insert(List.of(once)).get(0).id();
            assertThat(insert(caller, keyed).id()).isEqualTo(holder);
            assertThat(insert(caller, once).id()).isEqualTo(first);
            caller.commit();
        }
        assertThat(store.queues().get(0).count(JobState.PENDING)).isEqualTo(2);
    }

    @Test
    void an_outcome_is_stale_if_the_lease_was_taken_over_after_the_callers_first_read() throws SQLException {
        JobId id = store.insert(List.of(SPEC)).get(0).id();
        Claim zombie =
                store.claim(TestClaims.upTo(1).lease(Duration.ZERO).build()).get(0);
        try (Connection caller = begin()) {
            takeOver();
            assertThat(store.within(JdbcTransaction.of(caller))
                            .settle(
                                    List.of(TestSettlements.success(
                                            zombie, zombie.jobs().get(0))),
                                    List.of())
                            .stale())
                    .containsExactly(id);
            caller.commit();
        }
        assertThat(store.find(id).orElseThrow().state()).isEqualTo(JobState.RUNNING);
    }

    /** The lease of zero has expired by the time of the next statement, or the one after it. */
    private static void takeOver() {
        for (int i = 0; store.takeOver("rescuer", TestClaims.LONG, 1).isEmpty(); i++) {
            assertThat(i).as("take-overs without a result").isLessThan(1_000);
        }
    }

    @Test
    void who_comes_too_late_keeps_nobody_from_claiming() throws SQLException {
        store.insert(List.of(SPEC));
        Claim zombie =
                store.claim(TestClaims.upTo(1).lease(Duration.ZERO).build()).get(0);
        takeOver();
        try (Connection caller = begin()) {
            assertThat(store.within(JdbcTransaction.of(caller))
                            .settle(
                                    List.of(TestSettlements.success(
                                            zombie, zombie.jobs().get(0))),
                                    List.of(zombie.token()))
                            .stale())
                    .hasSize(1);
            hindersNobody(() -> {
                JobId next = store.insert(List.of(SPEC)).get(0).id();
                assertThat(TestClaims.ids(store.claim(TestClaims.upTo(1).build())))
                        .containsExactly(next);
            });
            caller.rollback();
        }
    }

    private static void hindersNobody(Runnable others) {
        long before = store.repeats();
        others.run();
        assertThat(store.repeats()).as("waits for locks").isEqualTo(before);
    }

    @Test
    void callers_enqueue_under_different_keys_side_by_side() throws SQLException {
        store.insert(List.of(
                SPEC.toBuilder().key("a", KeyRule.KEEP).idempotencyKey("a").build()));
        store.insert(List.of(
                SPEC.toBuilder().key("z", KeyRule.KEEP).idempotencyKey("z").build()));
        try (Connection first = begin();
                Connection second = begin()) {
            for (String key : List.of("k1", "k2")) {
                for (Connection caller : List.of(first, second)) {
                    String mine = key + (caller == first ? "b" : "a");
                    JobSpec spec = SPEC.toBuilder()
                            .key(mine, KeyRule.KEEP)
                            .idempotencyKey(mine)
                            .build();
                    assertThat(insert(caller, spec).created()).isTrue();
                }
            }
            first.commit();
            second.commit();
        }
        assertThat(store.queues().get(0).count(JobState.PENDING)).isEqualTo(6);
    }

    @Test
    void a_caller_that_met_a_known_key_keeps_nobody_from_settling_or_enqueueing() throws SQLException {
        JobSpec once = SPEC.toBuilder().idempotencyKey("i").build();
        JobId known = store.insert(List.of(once)).get(0).id();
        store.insert(List.of(SPEC));
        Claim claim = store.claim(TestClaims.upTo(2).build()).get(0);
        try (Connection caller = begin()) {
            assertThat(insert(caller, once).id()).isEqualTo(known);
            hindersNobody(() -> {
                store.settle(List.of(TestSettlements.success(claim, claim.jobs().get(1))), List.of());
                store.insert(List.of(SPEC));
            });
            caller.commit();
        }
    }

    @Test
    void a_caller_that_enqueued_under_keys_keeps_nobody_from_deleting_what_ended() throws SQLException {
        JobSpec keyed =
                SPEC.toBuilder().key("k", KeyRule.KEEP).idempotencyKey("i").build();
        JobId id = store.insert(List.of(SPEC)).get(0).id();
        Claim claim = store.claim(TestClaims.upTo(1).build()).get(0);
        store.settle(List.of(TestSettlements.fail(claim, claim.jobs().get(0))), List.of(claim.token()));
        try (Connection caller = begin()) {
            insert(caller, keyed);
            hindersNobody(() ->
                    assertThat(store.discard(id, new AuditNote("ada", null))).isTrue());
            caller.commit();
        }
    }

    @Test
    void the_victim_of_a_deadlock_is_run_again_and_counted() throws Exception {
        store.insert(Collections.nCopies(2, SPEC));
        Claim claim = store.claim(TestClaims.upTo(2).build()).get(0);
        List<JobId> ids = TestClaims.ids(List.of(claim));
        long before = store.repeats();
        try (Connection other = mariadb.connection();
                LockWaits waits = new LockWaits(mariadb)) {
            other.setAutoCommit(false);
            // Who has done more is not the victim.
            for (int i = 0; i < 200; i++) {
                execute(other, "insert into reprise_counter (queue, state, n) values ('x', 'FAILED', 0)");
            }
            execute(other, "select id from reprise_job where id = " + ids.get(1) + " for update");
            Future<?> settled = THREADS.submit(() -> store.settle(
                    claim.jobs().stream()
                            .map(job -> TestSettlements.success(claim, job))
                            .toList(),
                    List.of(claim.token())));
            waits.await(settled);
            execute(other, "select id from reprise_job where id = " + ids.get(0) + " for update");
            other.rollback();
            settled.get(LockWaits.LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(store.repeats()).isGreaterThan(before);
        assertThat(store.queues().get(0).count(JobState.SUCCEEDED)).isEqualTo(2);
    }

    @Test
    void who_waits_too_long_for_a_lock_tries_again_and_is_counted() throws Exception {
        store.insert(List.of(SPEC));
        Claim claim = store.claim(TestClaims.upTo(1).build()).get(0);
        try (JdbcJobStore hasty =
                        JdbcJobStore.builder().timeout(Duration.ofSeconds(2)).open(mariadb.url());
                Connection other = mariadb.connection()) {
            other.setAutoCommit(false);
            execute(other, "select id from reprise_lease where id = " + claim.token() + " for update");
            // If we stand still for long, it gives up after some tries.
            Future<?> settled = THREADS.submit(() -> Insist.on(() -> hasty.settle(
                    List.of(TestSettlements.success(claim, claim.jobs().get(0))), List.of(claim.token()))));
            LockWaits.await(settled, () -> hasty.repeats() > 0);
            other.rollback();
            settled.get(LockWaits.LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(hasty.repeats()).isPositive();
        }
        assertThat(store.queues().get(0).count(JobState.SUCCEEDED)).isEqualTo(1);
    }
}
