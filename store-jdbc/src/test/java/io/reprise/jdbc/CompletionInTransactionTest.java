// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static io.reprise.jdbc.WorkerProcess.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Outcome;
import io.reprise.Reprise;
import io.reprise.history.StoreCalls;
import io.reprise.insight.JobEvent;
import io.reprise.job.JobId;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.JobStore;
import io.reprise.store.Settled;
import io.reprise.testkit.servers.MariaDbServer;
import io.reprise.testkit.servers.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The effect and the completion of a job commit together or not at all, seen through a real worker. */
@Timeout(600)
class CompletionInTransactionTest {

    private static final RetryPolicy AT_ONCE = RetryPolicy.fixed(Duration.ZERO);

    @TempDir
    private Path directory;

    private String url(String database) {
        return switch (database) {
            case "sqlite" -> "jdbc:sqlite:" + directory.resolve("jobs.db") + "?busy_timeout=120000";
            case "mariadb" -> MariaDbServer.shared().freshDatabaseUrl();
            default -> PostgresServer.shared().freshDatabaseUrl();
        };
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static long effects(String url) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select count(*) from effect")) {
            rows.next();
            return rows.getLong(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgresql", "mariadb"})
    void a_rolled_back_completion_leaves_the_job_to_be_run_again(String database) throws Exception {
        String url = url(database);
        try (Connection connection = DriverManager.getConnection(url)) {
            execute(connection, "create table effect (job bigint)");
        }
        AtomicInteger runs = new AtomicInteger();
        List<JobEvent> events = new CopyOnWriteArrayList<>();
        List<JobId> refused = new CopyOnWriteArrayList<>();
        JobStore store = StoreCalls.before(JdbcJobStore.open(url), call -> {
            Object answer = call.proceed();
            if (answer instanceof Settled settled) {
                refused.addAll(settled.stale());
            }
            return answer;
        });
        try (Reprise reprise = Reprise.builder()
                .store(store)
                .codec(new WorkerProcess.TextCodec())
                .listener(events::add)
                .handle(WORK, (payload, job) -> {
                    try (Connection connection = DriverManager.getConnection(url)) {
                        connection.setAutoCommit(false);
                        execute(connection, "insert into effect values (" + job.id() + ")");
                        job.result("effect " + runs.incrementAndGet());
                        job.complete(JdbcTransaction.of(connection));
                        if (runs.get() < 3) {
                            connection.rollback();
                        } else {
                            connection.commit();
                        }
                    }
                })
                .start()) {
            JobId id = reprise.enqueue(WORK.job("a").retry(AT_ONCE));
            Outcome outcome = reprise.await(id, Duration.ofMinutes(3));
            assertThat(outcome.succeeded()).isTrue();
            assertThat(outcome.result(String.class)).isEqualTo("effect 3");
            assertThat(outcome.job().attempts()).isEqualTo(3);
            assertThat(runs).hasValue(3);
            assertThat(effects(url)).isEqualTo(1);
            assertThat(reprise.attempts(id).get(0).failure().message()).contains("did not commit");
        }
        assertThat(events).extracting(JobEvent::kind).containsOnlyOnce(JobEvent.Kind.SUCCEEDED);
        assertThat(events).extracting(JobEvent::kind).doesNotContain(JobEvent.Kind.STALE);
        // What the transaction has stored is not offered again, only to be refused.
        assertThat(refused).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgresql", "mariadb"})
    void a_rolled_back_enqueue_leaves_no_job_and_a_committed_one_runs(String database) throws Exception {
        String url = url(database);
        try (Reprise reprise = Reprise.builder()
                .store(JdbcJobStore.open(url))
                .codec(new WorkerProcess.TextCodec())
                .handle(WORK, (payload, job) -> {})
                .start()) {
            JobId gone;
            JobId kept;
            try (Connection connection = DriverManager.getConnection(url)) {
                connection.setAutoCommit(false);
                gone = reprise.enqueue(JdbcTransaction.of(connection), WORK.job("gone"));
                connection.rollback();
                kept = reprise.enqueue(JdbcTransaction.of(connection), WORK.job("kept"));
                connection.commit();
            }
            assertThat(reprise.await(kept, Duration.ofMinutes(3)).succeeded()).isTrue();
            assertThat(reprise.find(gone).filter(job -> job.spec().payload().equals("gone")))
                    .isEmpty();
        }
    }
}
