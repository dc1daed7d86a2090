// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.fairness.FlowLimit;
import io.reprise.fairness.GroupRules;
import io.reprise.job.AuditNote;
import io.reprise.job.Cancellation;
import io.reprise.job.JobChange;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.Requeue;
import io.reprise.store.RequeueResult;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestSettlements;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What others do between two statements of one action on MySQL or MariaDB. */
@Timeout(600)
class MySqlBetweenTest {

    private static final AuditNote NOTE = new AuditNote("ada", null);
    private static final ExecutorService THREADS = Executors.newCachedThreadPool();
    private static final JobSpec SPEC = JobSpec.builder("work", "1").build();
    private static final Requeue NOW = new Requeue("retry", Duration.ZERO, null, false, 0, Requeue.Edit.NONE);
    private static final ClaimRequest ANY = TestClaims.upTo(1).build();
    private static final ClaimRequest IN_ORDER = TestClaims.upTo(10)
            .demands(new ClaimRequest.Demand(
                    JobSpec.DEFAULT_QUEUE, 10, GroupRules.EQUAL.limit("in-*", FlowLimit.inOrder())))
            .build();
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

    private static JdbcJobStore before(String text, int nth, Runnable action) {
        return JdbcJobStore.mysql(Interrupted.before(text, nth, mariadb::connection, action));
    }

    private static JobId add(JobSpec.Builder spec) {
        return store.insert(List.of(spec.build())).get(0).id();
    }

    private static JobSpec.Builder spec() {
        return SPEC.toBuilder();
    }

    /** Begins this in another thread, and returns when it has ended or waits for a lock. */
    private static Future<?> begin(Runnable action) {
        Future<?> begun = THREADS.submit(action);
        long end = System.nanoTime() + LockWaits.LIMIT.toNanos();
        try (Connection connection = mariadb.connection();
                Statement statement = connection.createStatement()) {
            while (!begun.isDone() && !waits(statement)) {
                assertThat(System.nanoTime() - end).as("time over").isNegative();
                LockSupport.parkNanos(1_000_000);
            }
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
        return begun;
    }

    private static boolean waits(Statement statement) throws SQLException {
        try (ResultSet rows = statement.executeQuery("show global status like 'Innodb_row_lock_current_waits'")) {
            return rows.next() && rows.getInt(2) > 0;
        }
    }

    private static void await(Future<?> begun) throws Exception {
        begun.get(LockWaits.LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void a_job_that_changes_its_level_during_a_look_is_claimed_once() {
        JobId moved = add(spec().priority(5));
        JobId other = add(spec().priority(0));
        Runnable lower = () -> mariadb.execute("update reprise_job set priority = 0");
        try (JdbcJobStore slow = before("and j.due_at >=", 2, lower)) {
            assertThat(TestClaims.ids(
                            slow.claim(TestClaims.upTo(10).types("work").build())))
                    .containsExactly(moved, other);
        }
    }

    @Test
    void a_job_that_is_put_back_does_not_expire_at_the_same_time() {
        JobId id = add(spec().policy(RetryPolicy.unset().deadline(Duration.ofNanos(1_000))));
        try (JdbcJobStore slow = before("delete from reprise_job where id", 1, () -> store.expire(10))) {
            assertThat(slow.requeue(id, NOW, NOTE).result()).isEqualTo(RequeueResult.Result.DONE);
        }
        assertThat(store.find(JobQuery.all()).items()).hasSize(1);
        assertThat(store.find(id).orElseThrow().state()).isEqualTo(JobState.PENDING);
    }

    @Test
    void a_job_that_fails_again_before_it_is_lined_up_waits_for_its_retry() {
        JobId id = add(spec());
        retry(Duration.ZERO, ANY);
        try (JdbcJobStore slow =
                before("and due_at is not null and lane = 1", 1, () -> retry(Duration.ofHours(1), ANY))) {
            slow.lineUp(JobSpec.DEFAULT_QUEUE, true, 10);
        }
        assertThat(store.find(id).orElseThrow().counts().attempts()).isEqualTo(2);
        assertThat(store.claim(ANY)).isEmpty();
    }

    /** The job fails, and is to run again after this time. */
    private static void retry(Duration delay, ClaimRequest request) {
        Claim claim = store.claim(request).get(0);
        store.settle(List.of(TestSettlements.retry(claim, claim.jobs().get(0), delay)), List.of(claim.token()));
    }

    @Test
    void a_job_is_due_if_its_batch_ends_while_a_person_changes_it() throws Exception {
        JobSpec report = spec().delay(JobSpec.MAX_DELAY).build();
        assertThat(store.createBatch("nightly", null, report)).isTrue();
        JobId id = store.batch("nightly").orElseThrow().onEnd();
        assertThat(id).isNotNull();
        List<Future<?>> closed = new ArrayList<>();
        Runnable close = () -> closed.add(begin(() -> store.closeBatch("nightly")));
        try (JdbcJobStore slow = before("set queue = ", 1, close)) {
            assertThat(slow.changeAll(Map.of(id, JobChange.NONE.withPriority(5)), NOTE))
                    .containsEntry(id, JobChange.Answer.DONE);
        }
        await(closed.get(0));
        List<Claim> claims = store.claim(ANY);
        assertThat(TestClaims.jobs(claims))
                .extracting(job -> job.spec().priority())
                .containsExactly(5);
    }

    @Test
    void a_claim_that_waited_for_the_lock_of_a_queue_sees_that_it_was_paused() throws Exception {
        add(spec());
        List<Claim> claims = new ArrayList<>();
        try (Connection other = mariadb.connection();
                Statement statement = other.createStatement()) {
            statement.execute("insert ignore into reprise_queue_lock (name) values ('default')");
            other.setAutoCommit(false);
            statement.execute("select name from reprise_queue_lock where name = 'default' for update");
            GroupRules limited = GroupRules.EQUAL.rate(FlowLimit.rate(1_000, Duration.ofSeconds(1)));
            ClaimRequest.Demand demand = new ClaimRequest.Demand(JobSpec.DEFAULT_QUEUE, 10, limited);
            Future<?> claim = begin(() -> claims.addAll(
                    store.claim(TestClaims.upTo(10).demands(demand).build())));
            store.pause(JobSpec.DEFAULT_QUEUE, NOTE);
            other.rollback();
            await(claim);
        }
        assertThat(claims).isEmpty();
    }

    @Test
    void a_group_keeps_its_order_while_its_first_job_is_being_changed() throws SQLException {
        JobId first = add(spec().group("in-1").delay(Duration.ofNanos(1_000)));
        JobId second = add(spec().group("in-1").delay(Duration.ofNanos(2_000)));
        try (Connection other = mariadb.connection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("select id from reprise_job where id = " + first + " for update");
            assertThat(TestClaims.ids(store.claim(IN_ORDER))).doesNotContain(second);
            other.rollback();
        }
        assertThat(TestClaims.ids(store.claim(IN_ORDER))).containsExactly(first);
    }

    @Test
    void a_dead_letter_that_is_put_back_and_started_during_upkeep_keeps_its_group_back() {
        JobId first = add(spec().group("in-1"));
        add(spec().group("in-1"));
        Claim claim = store.claim(IN_ORDER).get(0);
        store.settle(List.of(TestSettlements.fail(claim, claim.jobs().get(0))), List.of(claim.token()));
        Runnable putBack = () -> {
            store.requeue(first, NOW, NOTE);
            retry(Duration.ofHours(1), IN_ORDER);
        };
        try (JdbcJobStore slow = before("delete from reprise_head", 1, putBack)) {
            slow.maintain();
        }
        assertThat(store.find(first).orElseThrow().state()).isEqualTo(JobState.PENDING);
        assertThat(store.claim(IN_ORDER)).isEmpty();
    }

    @Test
    void a_caller_that_closes_a_lease_cancels_whom_a_person_asked_to_stop_after_the_callers_first_read()
            throws SQLException {
        JobId id = add(spec());
        Claim claim = store.claim(ANY).get(0);
        try (Connection caller = mariadb.connection();
                Statement statement = caller.createStatement()) {
            caller.setAutoCommit(false);
            statement.execute("select count(*) from reprise_job");
            assertThat(store.cancel(id, NOTE)).isEqualTo(Cancellation.REQUESTED);
            store.within(JdbcTransaction.of(caller)).settle(List.of(), List.of(claim.token()));
            caller.commit();
        }
        assertThat(store.find(id).orElseThrow().state()).isEqualTo(JobState.CANCELLED);
    }
}
