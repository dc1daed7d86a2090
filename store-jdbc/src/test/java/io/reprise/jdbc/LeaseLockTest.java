// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static io.reprise.testkit.servers.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.store.Claim;
import io.reprise.store.Settlement;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestSettlements;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
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

/** Who locks several leases locks them in the order of their ids, or renewals and settles would lock each other out. */
@Timeout(300)
class LeaseLockTest {

    private static final ExecutorService THREADS = Executors.newCachedThreadPool();
    private static Postgres postgres;
    private static JdbcJobStore store;

    private Claim first;
    private Claim second;

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

    /** Two leases, the later one first in the table. */
    @BeforeEach
    void claim() {
        postgres.empty();
        store.insert(Collections.nCopies(4, JobSpec.builder("work", "1").build()));
        first = store.claim(TestClaims.upTo(2).build()).get(0);
        second = store.claim(TestClaims.upTo(2).build()).get(0);
        postgres.execute("update reprise_lease set expires_at = expires_at + 1 where id = " + first.token());
        assertThat(postgres.query("select id from reprise_lease"))
                .containsExactly(Long.toString(second.token()), Long.toString(first.token()));
    }

    private static void locksInOrder(Callable<?> task, Claim first, Claim second) throws Exception {
        try (Connection other = postgres.connection()) {
            other.setAutoCommit(false);
            lock(other, first);
            Future<?> answer = THREADS.submit(task);
            until(() -> isSomebodyWaiting() || answer.isDone());
            assertThat(answer).isNotDone();
            // Refused if the one who waits for the first lease holds the second already.
            lock(other, second);
            other.rollback();
            answer.get();
        }
    }

    private static void lock(Connection connection, Claim claim) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("select id from reprise_lease where id = " + claim.token() + " for update nowait");
        }
    }

    private static boolean isSomebodyWaiting() {
        return !postgres.query("select 1 from pg_stat_activity where datname = current_database()"
                        + " and cardinality(pg_blocking_pids(pid)) > 0")
                .isEmpty();
    }

    @Test
    void a_request_to_cancel_outlives_a_lease_that_is_closed_beside_it() throws Exception {
        JobId id = first.jobs().get(0).id();
        try (Connection canceller = postgres.connection();
                Statement statement = canceller.createStatement()) {
            canceller.setAutoCommit(false);
            lock(canceller, first);
            statement.execute("update reprise_job set cancel_requested = true where id = " + id);
            Future<?> closing = THREADS.submit(() -> store.settle(List.of(), List.of(first.token())));
            until(LeaseLockTest::isSomebodyWaiting);
            canceller.commit();
            closing.get();
        }
        List<Claim> claims = store.claim(TestClaims.upTo(1).build());
        Job next = TestClaims.jobs(claims).get(0);
        assertThat(next.id()).isEqualTo(id);
        assertThat(next.status().holder()).isNotNull();
        assertThat(next.status().holder().cancelRequested()).isTrue();
        assertThat(store.renew("worker-1", List.of(claims.get(0).token()), TestClaims.LONG)
                        .cancelled())
                .containsExactly(id);
    }

    private static Settlement retry(Claim claim) {
        return TestSettlements.retry(claim, claim.jobs().get(0), Duration.ofHours(1));
    }

    private static Settlement fail(Claim claim) {
        return TestSettlements.fail(claim, claim.jobs().get(1));
    }

    @Test
    void renewing() throws Exception {
        List<Long> tokens = List.of(second.token(), first.token());
        locksInOrder(() -> store.renew("worker-1", tokens, TestClaims.LONG), first, second);
    }

    @Test
    void settling_retries() throws Exception {
        locksInOrder(() -> store.settle(List.of(retry(second), retry(first)), List.of()), first, second);
    }

    @Test
    void settling_failures() throws Exception {
        locksInOrder(() -> store.settle(List.of(fail(second), fail(first)), List.of()), first, second);
    }

    @Test
    void settling_retries_and_failures() throws Exception {
        locksInOrder(() -> store.settle(List.of(retry(second), fail(first)), List.of()), first, second);
    }

    @Test
    void settling_retries_and_closing() throws Exception {
        locksInOrder(() -> store.settle(List.of(retry(second)), List.of(first.token())), first, second);
    }

    @Test
    void closing() throws Exception {
        List<Long> tokens = List.of(second.token(), first.token());
        locksInOrder(() -> store.settle(List.of(), tokens), first, second);
        assertThat(TestClaims.ids(store.claim(TestClaims.upTo(10).build()))).hasSize(4);
    }
}
