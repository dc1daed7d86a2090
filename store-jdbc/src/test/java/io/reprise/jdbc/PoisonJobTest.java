// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static io.reprise.jdbc.WorkerProcess.POISON;
import static io.reprise.jdbc.WorkerProcess.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobState;
import io.reprise.Reprise;
import io.reprise.retry.FailReason;
import io.reprise.retry.LossRule;
import io.reprise.retry.RetryPolicy;
import io.reprise.testkit.MariaDbServer;
import io.reprise.testkit.PostgresServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A job that kills every worker that runs it, in processes of their own. */
@Timeout(240)
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

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgresql", "mariadb"})
    void a_job_that_always_kills_its_worker_is_quarantined_and_its_neighbours_are_not(String database)
            throws Exception {
        String url = url(database);
        try (Reprise client = client(url)) {
            JobId poison = client.enqueue(WORK.job(POISON).retry(QUICK));
            client.enqueueAll(Collections.nCopies(20, WORK.job("innocent").retry(QUICK)));
            int deaths = 0;
            while (!client.find(poison).orElseThrow().state().isTerminal()) {
                Process worker = WorkerProcess.start(url);
                until(() -> !worker.isAlive()
                        || client.find(poison).orElseThrow().state().isTerminal());
                deaths += worker.isAlive() ? 0 : 1;
                worker.destroyForcibly().waitFor();
            }
            Process worker = WorkerProcess.start(url);
            try {
                until(() -> count(client, JobState.SUCCEEDED) == 20);
            } finally {
                worker.destroyForcibly().waitFor();
            }
            Job dead = client.find(poison).orElseThrow();
            assertThat(dead.failReason()).isEqualTo(FailReason.QUARANTINED);
            assertThat(dead.counts().losses()).isEqualTo(deaths).isLessThanOrEqualTo(4);
            assertThat(count(client, JobState.FAILED)).isEqualTo(1);
        }
    }

    private static long count(Reprise client, JobState state) {
        return client.queues().stream().mapToLong(queue -> queue.count(state)).sum();
    }

    /** The test's own time limit bounds this. */
    private static void until(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        }
    }
}
