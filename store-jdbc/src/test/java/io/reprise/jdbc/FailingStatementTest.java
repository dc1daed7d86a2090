// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.jdbc.sqlite.SqliteDatabase;
import io.reprise.job.AuditNote;
import io.reprise.job.JobChange;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.job.WaitReason;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.CountedAs;
import io.reprise.store.Requeue;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lets the first, second, third … statement of an operation fail: the data is then as before, or as after. */
class FailingStatementTest {

    private static final AuditNote NOTE = new AuditNote("ada", null);

    @TempDir
    Path directory;

    private final AtomicInteger statementsLeft = new AtomicInteger(Integer.MAX_VALUE);

    @Test
    void an_insert_happens_as_a_whole_or_not_at_all() {
        JobSpec first = JobSpec.builder("work", "1").idempotencyKey("a").build();
        JobSpec second = JobSpec.builder("work", "2").key("k", KeyRule.REPLACE).build();
        everyStatementFails(store -> store.insert(List.of(first, second, first)));
    }

    @Test
    void a_claim_happens_as_a_whole_or_not_at_all() {
        everyStatementFails(store -> assertThat(claim(store)).hasSize(1));
    }

    @Test
    void a_settle_happens_as_a_whole_or_not_at_all() {
        everyStatementFails(store -> {
            Claim claim = claimBefore;
            Failure failure = Failure.of(FailureClass.TRANSIENT, "java.io.IOException", "reset");
            List<Settlement.Next> outcomes = List.of(
                    new Settlement.Succeed("{}"),
                    new Settlement.Fail(FailReason.PERMANENT),
                    new Settlement.Wait(WaitReason.RETRY, Duration.ofSeconds(1), null));
            List<Settlement> settlements = new ArrayList<>();
            for (int i = 0; i < outcomes.size(); i++) {
                settlements.add(new Settlement(
                        claim.jobs().get(i).id(),
                        claim.token(),
                        CountedAs.ATTEMPT,
                        Duration.ofMillis(5),
                        outcomes.get(i),
                        i == 0 ? null : failure,
                        null));
            }
            assertThat(store.settle(settlements, List.of(claim.token())).stale())
                    .isEmpty();
        });
    }

    @Test
    void a_requeue_happens_as_a_whole_or_not_at_all() {
        Requeue requeue = new Requeue(
                "replay", Duration.ZERO, null, true, 0, new Requeue.Edit(true, "other", "{\"edited\":true}"));
        everyStatementFails(store -> store.requeue(dead, requeue, NOTE));
    }

    @Test
    void a_trigger_happens_as_a_whole_or_not_at_all() {
        JobSpec job = JobSpec.builder("work", "1").schedule("nightly").build();
        everyStatementFails(store -> store.trigger("nightly", job, NOTE));
    }

    @Test
    void a_change_happens_as_a_whole_or_not_at_all() {
        JobChange change = JobChange.NONE
                .withPriority(5)
                .toQueue("other")
                .withPolicy(RetryPolicy.unset().maxAttempts(77))
                .withPayload("{\"edited\":true}");
        everyStatementFails(store -> {
            JobId waiting = store.find(JobQuery.all().state(JobState.PENDING))
                    .items()
                    .get(0)
                    .id();
            assertThat(store.changeAll(Map.of(waiting, change), NOTE)).containsValue(JobChange.Answer.DONE);
        });
    }

    private static final JobSpec FOLLOW = JobSpec.builder("work", "1")
            .queue("keyed")
            .key("held", KeyRule.FOLLOW)
            .build();

    @Test
    void a_job_is_stored_behind_the_holder_of_its_key_as_a_whole_or_not_at_all() {
        everyStatementFails(FailingStatementTest::hold, store -> {
            assertThat(store.insert(List.of(FOLLOW)).get(0).created()).isTrue();
        });
    }

    @Test
    void a_job_that_follows_is_let_go_as_a_whole_or_not_at_all() {
        everyStatementFails(
                store -> {
                    Claim claim = hold(store);
                    store.insert(List.of(FOLLOW));
                    store.settle(
                            List.of(new Settlement(
                                    claim.jobs().get(0).id(),
                                    claim.token(),
                                    CountedAs.ATTEMPT,
                                    Duration.ZERO,
                                    new Settlement.Succeed(null),
                                    null,
                                    null)),
                            List.of(claim.token()));
                },
                store -> assertThat(store.letFollow(10)).isEqualTo(1));
    }

    private static Claim hold(JdbcJobStore store) {
        store.insert(List.of(FOLLOW));
        return store.claim(new ClaimRequest(
                        "worker", Duration.ofMinutes(1), 3, List.of(new ClaimRequest.Demand("keyed", 3)), 0.2, true))
                .get(0);
    }

    private Claim claimBefore;
    private JobId dead;

    private static List<Claim> claim(JdbcJobStore store) {
        return store.claim(new ClaimRequest(
                "worker", Duration.ofMinutes(1), 3, List.of(new ClaimRequest.Demand("default", 3)), 0.2, true));
    }

    private void everyStatementFails(Consumer<JdbcJobStore> operation) {
        everyStatementFails(store -> {}, operation);
    }

    private void everyStatementFails(Consumer<JdbcJobStore> first, Consumer<JdbcJobStore> operation) {
        Path original = directory.resolve("original.db");
        fill(original);
        try (JdbcJobStore store = JdbcJobStore.sqlite(original)) {
            first.accept(store);
        }
        List<String> before = contents(original);
        boolean failed = true;
        for (int n = 1; failed; n++) {
            assertThat(n).isLessThan(200);
            Path file = copy(original);
            failed = failsAt(n, file, operation);
            if (failed) {
                assertThat(contents(file))
                        .as("after statement " + n + " failed")
                        .isEqualTo(before);
                assertThat(failsAt(Integer.MAX_VALUE, file, operation)).isFalse();
            }
            assertThat(contents(file)).isNotEqualTo(before);
        }
    }

    private void fill(Path file) {
        try (JdbcJobStore store = JdbcJobStore.sqlite(file)) {
            store.prepare();
            dead = store.insert(List.of(JobSpec.builder("work", "0").build()))
                    .get(0)
                    .id();
            Claim claim = claim(store).get(0);
            store.settle(
                    List.of(new Settlement(
                            dead,
                            claim.token(),
                            CountedAs.ATTEMPT,
                            Duration.ZERO,
                            new Settlement.Fail(FailReason.EXHAUSTED),
                            Failure.of(FailureClass.TRANSIENT, "java.io.IOException", "reset"),
                            null)),
                    List.of(claim.token()));
            JobSpec spec = JobSpec.builder("work", "1").build();
            store.insert(List.of(spec, spec, spec, spec, spec, spec));
            claimBefore = claim(store).get(0);
        }
    }

    private boolean failsAt(int n, Path file, Consumer<JdbcJobStore> operation) {
        statementsLeft.set(Integer.MAX_VALUE);
        SqliteDatabase database = new SqliteDatabase(file, Duration.ofSeconds(5), 1, () -> failing(file));
        try (JdbcJobStore store = JdbcJobStore.builder().sqlite(database)) {
            store.maintain();
            store.now();
            statementsLeft.set(n);
            operation.accept(store);
            return false;
        } catch (StoreException e) {
            return true;
        } finally {
            statementsLeft.set(Integer.MAX_VALUE);
        }
    }

    private Connection failing(Path file) throws SQLException {
        Connection real = DriverManager.getConnection("jdbc:sqlite:" + file);
        return proxy(
                Connection.class,
                real,
                (name, result) -> result instanceof PreparedStatement statement
                        ? proxy(PreparedStatement.class, statement, (called, value) -> value)
                        : result);
    }

    private interface After {
        Object change(String method, Object result);
    }

    private <T> T proxy(Class<T> type, T real, After after) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
            if (method.getName().startsWith("execute") && statementsLeft.decrementAndGet() == 0) {
                throw new SQLException("this statement fails", null, 10);
            }
            try {
                return after.change(method.getName(), method.invoke(real, args));
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }));
    }

    private Path copy(Path original) {
        try {
            Path file = directory.resolve("copy.db");
            Files.deleteIfExists(directory.resolve("copy.db-wal"));
            Files.deleteIfExists(directory.resolve("copy.db-shm"));
            return Files.copy(original, file, StandardCopyOption.REPLACE_EXISTING);
        } catch (java.io.IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Every row of every table that a job's fate is in, without the times, which differ between two tries. */
    private static List<String> contents(Path file) {
        List<String> rows = new ArrayList<>();
        rows.addAll(Sqlite.query(
                file,
                "select 'job' || json_array(id, state, queue, lane, token, attempts, payload, fail_reason, unique_key,"
                        + " error_type, result) from reprise_job order by id"));
        rows.addAll(Sqlite.query(file, "select 'lease' || json_array(id, worker, ids) from reprise_lease order by id"));
        rows.addAll(Sqlite.query(
                file, "select 'attempt' || json_array(job_id, token, number) from reprise_attempt order by 1"));
        rows.addAll(Sqlite.query(
                file, "select 'count' || json_array(queue, state, sum(n)) from reprise_counter group by queue, state"));
        rows.addAll(Sqlite.query(file, "select 'key' || json_array(key, job_id) from reprise_idempotency order by 1"));
        rows.addAll(Sqlite.query(
                file, "select 'follower' || json_array(follows, job_id) from reprise_follower order by 1"));
        rows.addAll(Sqlite.query(file, "select 'audit' || json_array(action, job_id) from reprise_audit order by id"));
        return rows;
    }
}
