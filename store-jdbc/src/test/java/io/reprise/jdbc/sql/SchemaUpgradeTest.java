// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import static io.reprise.jdbc.WorkerProcess.WORK;
import static io.reprise.testkit.servers.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.ManualRetry;
import io.reprise.Reprise;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.JdbcSchema;
import io.reprise.jdbc.WorkerProcess;
import io.reprise.job.Attempt;
import io.reprise.job.Cancellation;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.job.RepriseException;
import io.reprise.job.WaitReason;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Document;
import io.reprise.testkit.servers.MariaDbServer;
import io.reprise.testkit.servers.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A database at schema version 5 with jobs in every state, as the programs of that version wrote them. Two programs of
 * this version start on it at once. They migrate it, and read, run, retry and cancel what they find.
 */
@Timeout(600)
class SchemaUpgradeTest {

    private static final int OLD = 5;

    /** More than one claim takes. */
    private static final int BACKLOG = 300;

    private static final int FRESH = 1;
    private static final int DELAYED = 2;
    private static final int RETRIED = 3;
    private static final int SNOOZED = 4;
    private static final int SUSPECT = 5;
    private static final int PARKED = 6;
    private static final int LOST = 7;
    private static final int ASKED = 8;
    private static final int KEYED = 9;
    private static final int DONE = 10;
    private static final int DEAD = 11;
    private static final int CANCELLED = 12;
    private static final int CHAINED = 13;
    private static final int HELD = 14;
    private static final int RICH = 15;
    private static final int RUNNING = 16;

    private static final long HOUR = 3_600_000_000L;
    private static final RetryPolicy POLICY = RetryPolicy.unset().maxAttempts(7);

    @TempDir
    Path directory;

    private final long now = Instant.now().toEpochMilli() * 1_000;
    private final ConcurrentMap<String, Integer> runs = new ConcurrentHashMap<>();

    /**
     * What differs between the databases.
     *
     * @param finished table of the jobs that have ended
     * @param list how a list of ids is written, around the ids
     */
    private record Database(String dialect, String url, Supplier<JdbcJobStore> open, String finished, String list) {

        void execute(List<String> statements) throws SQLException {
            try (Connection connection = DriverManager.getConnection(url);
                    Statement statement = connection.createStatement()) {
                connection.setAutoCommit(false);
                for (String sql : statements) {
                    statement.execute(sql);
                }
                connection.commit();
            }
        }

        String ids(String ids) {
            return "'" + list.charAt(0) + ids + list.charAt(1) + "'";
        }
    }

    /** Applies the first steps and no more. */
    private static void create(Database database) throws SQLException {
        for (String script :
                List.copyOf(JdbcSchema.flyway(database.dialect).values()).subList(0, OLD)) {
            database.execute(Migrations.statements(script));
        }
    }

    private String live(int id, WaitReason wait, long due, Map<String, String> more) {
        StringBuilder names = new StringBuilder();
        StringBuilder values = new StringBuilder();
        Map<String, String> columns = new TreeMap<>(Map.of("queue", "'default'", "priority", "0"));
        columns.putAll(more);
        columns.forEach((name, value) -> {
            names.append(", ").append(name);
            values.append(", ").append(value);
        });
        return "insert into reprise_job (id, due_at, first_due_at, created_at, wait_reason, type, payload" + names
                + ") values (" + id + ", " + due + ", " + due + ", " + (now - 2 * HOUR) + ", '" + wait
                + "', 'work', '\"" + id + "\"'" + values + ")";
    }

    private String ended(Database database, int id, JobState state, String more, String values) {
        return "insert into " + database.finished + " (id, finished_at, first_due_at, created_at, started_at, token,"
                + " attempts, losses, interruptions, snoozes, granted, lane, priority, state, queue, type, payload"
                + more + ") values (" + id + ", " + (now - HOUR / 2) + ", " + (now - HOUR) + ", " + (now - HOUR) + ", "
                + (now - HOUR / 2) + ", 40, 1, 0, 0, 0, 0, 1, 0, '" + state + "', 'default', 'work', '\"" + id + "\"'"
                + values + ")";
    }

    private List<String> lease(Database database, int token, long expires, String ids) {
        String columns = "insert into reprise_lease (id, queue, worker, runner, alone, claimed_at";
        String values = ") values (" + token + ", 'default', 'old', 'old', false, " + (now - HOUR);
        if (!database.dialect.equals("mariadb")) {
            return List.of(columns + ", expires_at, ids" + values + ", " + expires + ", " + database.ids(ids) + ")");
        }
        List<String> statements = new ArrayList<>(List.of(
                columns + values + ")",
                "insert into reprise_expiry (id, worker, expires_at) values (" + token + ", 'old', " + expires + ")"));
        for (String id : ids.split(",", -1)) {
            statements.add("insert into reprise_hold (token, job_id) values (" + token + ", " + id + ")");
        }
        return statements;
    }

    private void fill(Database database) throws SQLException {
        long past = now - HOUR;
        String error = ", error_type, error_message, fingerprint, fail_reason";
        Map<String, String> failed = Map.of(
                "error_type", "'java.io.IOException'",
                "error_message", "'broken pipe'",
                "fingerprint", "'f1'",
                "attempts", "1",
                "token", "40",
                "lane", "1",
                "last_delay_us", "1000000");
        String chain =
                "'{\"links\":[{\"of\":-1,\"when\":\"success\",\"type\":\"work\",\"payload\":\"\\\\\"next\\\\\"\","
                        + "\"queue\":\"default\",\"priority\":0,\"policy\":\"{}\"}]}'";
        // A text of MariaDB has an escape of its own.
        String chained = database.dialect.equals("mariadb") ? chain : chain.replace("\\\\", "\\");
        database.execute(List.of(
                live(FRESH, WaitReason.NEW, past, Map.of()),
                live(DELAYED, WaitReason.DELAYED, now + 24 * HOUR, Map.of("delay_us", String.valueOf(24 * HOUR))),
                live(RETRIED, WaitReason.RETRY, past, failed),
                "insert into reprise_attempt (job_id, token, number, started_at, ended_at, worker, ending, failure_class,"
                        + " failure_type, failure_message, fingerprint, decision, decision_class, decision_rule,"
                        + " decision_delay_us, decision_raw_us, decision_counts) values (" + RETRIED + ", 40, 1, "
                        + past
                        + ", " + past + ", 'old', 'FAILED', 'TRANSIENT', 'java.io.IOException', 'broken pipe', 'f1',"
                        + " 'RETRY', 'TRANSIENT', 'default', 1000000, 1000000, true)",
                live(SNOOZED, WaitReason.SNOOZE, past, Map.of("snoozes", "1", "token", "40")),
                live(SUSPECT, WaitReason.RETRY, past, Map.of("losses", "2", "lane", "2", "token", "40")),
                live(
                        PARKED,
                        WaitReason.BREAKER,
                        past,
                        Map.of("lane", "3", "parked_by", "'breaker/bank'", "resource", "'bank'", "token", "40")),
                live(LOST, WaitReason.NEW, past, Map.of()),
                live(ASKED, WaitReason.NEW, past, Map.of("cancel_requested", "true")),
                live(KEYED, WaitReason.DELAYED, now + 24 * HOUR, Map.of("unique_key", "'one'", "key_rule", "'KEEP'")),
                ended(database, DONE, JobState.SUCCEEDED, ", worker, result, idempotency_key", ", 'old', '7', 'again'"),
                "insert into reprise_idempotency values ('again', " + DONE + ")",
                "insert into reprise_done (finished_at, jobs, ids) values (" + past + ", 1, " + database.ids("" + DONE)
                        + ")",
                ended(database, DEAD, JobState.FAILED, error, ", 'java.io.IOException', 'broken', 'f1', 'DEADLINE'"),
                ended(database, CANCELLED, JobState.CANCELLED, "", ""),
                "insert into reprise_counter (queue, state, n) values ('default', 'SUCCEEDED', 1)",
                "insert into reprise_counter (queue, state, n) values ('default', 'FAILED', 1)",
                "insert into reprise_counter (queue, state, n) values ('default', 'CANCELLED', 1)",
                live(CHAINED, WaitReason.NEW, past, Map.of("chain", chained)),
                live(HELD, WaitReason.NEW, past, Map.of("queue", "'held'")),
                "insert into reprise_queue (name, paused_at, paused_by) values ('held', " + past + ", 'ada')",
                live(
                        RICH,
                        WaitReason.NEW,
                        past,
                        Map.of(
                                "tags", "',a,b,'",
                                "resource", "'shop'",
                                "timeout_us", "5000000",
                                "priority", "3",
                                "policy", "77")),
                "insert into reprise_policy (id, json) values (77, '" + POLICY.toJson() + "')",
                live(RUNNING, WaitReason.NEW, past, Map.of()),
                "insert into reprise_schedule (name, rule, next_at, priority, queue, type, payload, schedule) values"
                        + " ('daily', 'every|PT24H|UTC|ONCE|false', " + past
                        + ", 0, 'default', 'work', '\"fired\"', 'daily')",
                "insert into reprise_audit (at, action, subject, by_whom) values (" + past
                        + ", 'pause', 'held', 'ada')",
                "insert into reprise_document (kind, id, version, json) values ('policy', 'slow', 1, '{}')"));
        database.execute(lease(database, 50, past, LOST + "," + ASKED));
        database.execute(lease(database, 51, now + 24 * HOUR, "" + RUNNING));
        database.execute(IntStream.range(0, BACKLOG)
                .mapToObj(n -> live(100 + n, WaitReason.NEW, past, Map.of()))
                .toList());
        // SQLite follows the greatest number that was used, and so do the leases of MariaDB.
        switch (database.dialect) {
            case "postgresql" ->
                database.execute(List.of(
                        "select setval('reprise_job_id', 999)",
                        "select setval('reprise_token', 51)",
                        "select setval('reprise_control_version', 1)"));
            case "mariadb" ->
                database.execute(List.of(
                        "update reprise_sequence set value = 999 where name = 'job'",
                        "update reprise_sequence set value = 1 where name = 'control'"));
            default -> database.execute(List.of("update reprise_control_version set version = 1"));
        }
    }

    private Reprise worker(Database database) {
        return Reprise.builder()
                .store(database.open.get())
                .codec(new WorkerProcess.TextCodec())
                .concurrency(4)
                .poll(Duration.ofMillis(20))
                .handle(WORK, (payload, job) -> runs.merge(payload, 1, Integer::sum))
                .start();
    }

    private static JobState state(Reprise reprise, int id) {
        return job(reprise, id).state();
    }

    private static Job job(Reprise reprise, int id) {
        return reprise.find(new JobId(id)).orElseThrow();
    }

    private static void untilSucceeded(Reprise reprise, int... ids) {
        for (int id : ids) {
            until(() -> state(reprise, id) == JobState.SUCCEEDED);
        }
    }

    private void check(Database database) throws Exception {
        create(database);
        fill(database);
        try (JdbcJobStore looks = database.open.get()) {
            assertThatThrownBy(looks::requirePrepared)
                    .isInstanceOf(RepriseException.class)
                    .hasMessageContaining("schema version " + OLD);
        }
        CompletableFuture<Reprise> other = CompletableFuture.supplyAsync(() -> worker(database));
        try (Reprise reprise = worker(database);
                Reprise second = other.join()) {
            assertThat(second.schedules()).hasSize(1);
            readsWhatStays(reprise);
            runsWhatWaits(reprise);
            try (JdbcJobStore store = database.open.get()) {
                knowsKeys(store);
                assertThat(store.document("policy", "slow").orElseThrow().version())
                        .isEqualTo(1);
                assertThat(store.putDocument(new Document("policy", "slow", 1, "{}"))
                                .orElseThrow())
                        .isGreaterThan(1);
            }
            changes(reprise);
        }
    }

    private static void readsWhatStays(Reprise reprise) {
        assertThat(job(reprise, DONE).status().result()).isEqualTo("7");
        assertThat(job(reprise, CANCELLED).state()).isEqualTo(JobState.CANCELLED);
        assertThat(job(reprise, DEAD).failReason()).isEqualTo(FailReason.DEADLINE);
        assertThat(job(reprise, RUNNING).state()).isEqualTo(JobState.RUNNING);
        assertThat(job(reprise, DELAYED).status().waitReason()).isEqualTo(WaitReason.DELAYED);
        Job rich = job(reprise, RICH);
        assertThat(rich.spec().tags()).containsExactlyInAnyOrder("a", "b");
        assertThat(rich.spec().resource()).isEqualTo("shop");
        assertThat(rich.spec().timeout()).isEqualTo(Duration.ofSeconds(5));
        assertThat(rich.spec().priority()).isEqualTo(3);
        assertThat(rich.policy()).isEqualTo(POLICY);
        assertThat(rich.spec().group()).isNull();
        assertThat(rich.spec().batch()).isNull();
    }

    private void runsWhatWaits(Reprise reprise) {
        untilSucceeded(reprise, FRESH, RETRIED, SNOOZED, SUSPECT, PARKED, LOST, CHAINED, RICH);
        untilSucceeded(reprise, IntStream.range(100, 100 + BACKLOG).toArray());
        until(() -> state(reprise, ASKED) == JobState.CANCELLED);
        until(() -> runs.containsKey("\"next\"") && runs.containsKey("\"fired\""));
        assertThat(runs).doesNotContainKey("\"" + ASKED + "\"");
        assertThat(job(reprise, RETRIED).attempts()).isEqualTo(2);
        assertThat(reprise.attempts(new JobId(RETRIED)))
                .extracting(Attempt::number)
                .containsExactlyInAnyOrder(1, 2);
        assertThat(state(reprise, HELD)).as("its queue is paused").isEqualTo(JobState.PENDING);
        assertThat(reprise.find(JobQuery.deadLetters()).items())
                .as("dead letters")
                .extracting(job -> job.id().value())
                .containsExactly((long) DEAD);
    }

    private static void knowsKeys(JdbcJobStore store) {
        Enqueued kept = store.insert(List.of(
                        JobSpec.builder("work", "1").key("one", KeyRule.KEEP).build()))
                .get(0);
        assertThat(kept.id().value()).isEqualTo(KEYED);
        assertThat(kept.created()).isFalse();
        Enqueued again = store.insert(List.of(
                        JobSpec.builder("work", "1").idempotencyKey("again").build()))
                .get(0);
        assertThat(again.id().value()).isEqualTo(DONE);
        assertThat(again.created()).isFalse();
        Enqueued fresh = store.insert(
                        List.of(JobSpec.builder("work", "\"new\"").group("g").build()))
                .get(0);
        assertThat(fresh.id().value()).isGreaterThan(100 + BACKLOG - 1);
    }

    private void changes(Reprise reprise) {
        assertThat(reprise.as("ada", null).cancel(new JobId(DELAYED))).isEqualTo(Cancellation.DONE);
        assertThat(state(reprise, DELAYED)).isEqualTo(JobState.CANCELLED);
        assertThat(reprise.as("ada", null).cancel(new JobId(RUNNING))).isEqualTo(Cancellation.REQUESTED);
        reprise.as("ada", null).retry(new JobId(DEAD), ManualRetry.NOW);
        reprise.as("ada", null).resume("held");
        untilSucceeded(reprise, DEAD, HELD);
        until(() -> runs.containsKey("\"new\""));
    }

    @Test
    void a_file_of_sqlite_goes_on() throws Exception {
        Path file = directory.resolve("jobs.db");
        check(new Database("sqlite", "jdbc:sqlite:" + file, () -> JdbcJobStore.sqlite(file), "reprise_job", "[]"));
    }

    @Test
    void a_database_of_postgresql_goes_on() throws Exception {
        String url = PostgresServer.shared().freshDatabaseUrl();
        check(new Database("postgresql", url, () -> JdbcJobStore.open(url), "reprise_finished", "{}"));
    }

    @Test
    void a_database_of_mariadb_goes_on() throws Exception {
        String url = MariaDbServer.shared().freshDatabaseUrl();
        check(new Database("mariadb", url, () -> JdbcJobStore.open(url), "reprise_finished", "[]"));
    }
}
