// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static io.reprise.jdbc.WorkerProcess.POISON;
import static io.reprise.jdbc.WorkerProcess.WORK;
import static io.reprise.testkit.servers.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Reprise;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.retry.FailReason;
import io.reprise.retry.LossRule;
import io.reprise.retry.RetryPolicy;
import io.reprise.testkit.Slow;
import io.reprise.testkit.servers.MariaDbServer;
import io.reprise.testkit.servers.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A job that kills every worker that runs it, in processes of their own. */
@Timeout(600)
class PoisonJobTest {

    private static final RetryPolicy QUICK =
            RetryPolicy.fixed(Duration.ofMillis(50)).losses(new LossRule(false, true, 3));

    @TempDir
    private Path directory;

    private String url(String database) {
        return switch (database) {
            case "sqlite" -> "sqlite:" + directory.resolve("jobs.db");
            case "mariadb" -> MariaDbServer.shared().freshDatabaseUrl();
            default -> PostgresServer.shared().freshDatabaseUrl();
        };
    }

    private static Reprise client(String url) {
        return Reprise.builder()
                .store(JdbcJobStore.open(url))
                .codec(new WorkerProcess.TextCodec())
                .start();
    }

    @Test
    void a_job_that_always_kills_its_worker_is_quarantined_and_its_neighbours_are_not() throws Exception {
        quarantined("postgresql");
    }

    @Slow
    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "mariadb"})
    void so_it_is_on_other_databases(String database) throws Exception {
        quarantined(database);
    }

    private void quarantined(String database) throws Exception {
        String url = url(database);
        try (Reprise client = client(url)) {
            JobId poison = client.enqueue(WORK.job(POISON).retry(QUICK));
            client.enqueueAll(Collections.nCopies(20, WORK.job("innocent").retry(QUICK)));
            int deaths = 0;
            while (dies(url, client, poison)) {
                deaths++;
                expire(url);
            }
            Job dead = client.find(poison).orElseThrow();
            assertThat(dead.failReason()).isEqualTo(FailReason.QUARANTINED);
            assertThat(dead.counts().losses()).isEqualTo(deaths).isLessThanOrEqualTo(4);
            assertThat(count(client, JobState.FAILED)).isEqualTo(1);
        }
    }

    /** Whether a worker dies of the job. If not, because that is quarantined, it does the rest. */
    private static boolean dies(String url, Reprise client, JobId poison) throws InterruptedException {
        Process worker = WorkerProcess.start(url);
        try {
            until(() -> !worker.isAlive()
                    || client.find(poison).orElseThrow().state().isTerminal());
            if (!worker.isAlive()) {
                return true;
            }
            until(() -> count(client, JobState.SUCCEEDED) == 20);
            return false;
        } finally {
            worker.destroyForcibly().waitFor();
        }
    }

    /** What a dead worker held ends at once. Leases so short would be lost by those who live but stand still, too. */
    private static void expire(String url) throws SQLException {
        String jdbc = url.startsWith("jdbc:") ? url : "jdbc:" + url + "?busy_timeout=60000";
        try (Connection connection = DriverManager.getConnection(jdbc);
                Statement statement = connection.createStatement()) {
            String terms = jdbc.startsWith("jdbc:mariadb:") ? "reprise_expiry" : "reprise_lease";
            statement.execute("update " + terms + " set expires_at = 1");
            statement.execute("update reprise_role set expires_at = 1");
        }
    }

    private static long count(Reprise client, JobState state) {
        return client.queues().stream().mapToLong(queue -> queue.count(state)).sum();
    }
}
