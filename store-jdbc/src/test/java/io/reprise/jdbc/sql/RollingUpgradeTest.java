// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import static io.reprise.jdbc.WorkerProcess.WORK;
import static io.reprise.testkit.servers.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Reprise;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.WorkerProcess;
import io.reprise.job.JobState;
import io.reprise.testkit.servers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Programs of neighbouring versions on one database, whose schema is upgraded while all of them work. */
@Timeout(600)
class RollingUpgradeTest {

    private static final int LAST = Migrations.scripts("postgresql").size();

    private final String url = PostgresServer.shared().freshDatabaseUrl();
    private final ConcurrentMap<String, Integer> runs = new ConcurrentHashMap<>();
    private final AtomicInteger enqueued = new AtomicInteger();
    private final AtomicBoolean enough = new AtomicBoolean();

    private void execute(String... statements) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            for (String sql : statements) {
                statement.execute(sql);
            }
            connection.commit();
        }
    }

    /** The database as the version before has left it: the last step made the table of groups in order. */
    private void previous() throws SQLException {
        try (JdbcJobStore store = JdbcJobStore.open(url)) {
            store.prepare();
        }
        execute("drop table reprise_head", "delete from reprise_migration where version = " + LAST);
    }

    /** A worker; one that does not migrate stands for a program that knows nothing of later steps. */
    private Reprise worker(boolean migrates) {
        return Reprise.builder()
                .store(JdbcJobStore.open(url))
                .migrate(migrates)
                .codec(new WorkerProcess.TextCodec())
                .concurrency(4)
                .poll(Duration.ofMillis(20))
                .handle(WORK, (payload, job) -> runs.merge(payload, 1, Integer::sum))
                .start();
    }

    private void enqueue(Reprise client) {
        while (!enough.get()) {
            client.enqueue(WORK.job(Integer.toString(enqueued.get())));
            enqueued.incrementAndGet();
        }
    }

    private void untilMoreRan() {
        int before = runs.size();
        until(() -> runs.size() > before + 50);
    }

    @Test
    void nothing_is_lost_or_done_twice_while_the_schema_is_upgraded_under_load() throws Exception {
        previous();
        try (Reprise first = worker(false);
                Reprise second = worker(false)) {
            CompletableFuture<Void> producer = CompletableFuture.runAsync(() -> enqueue(first));
            untilMoreRan();
            try (Reprise newer = worker(true)) {
                assertThat(newer.queues()).isNotEmpty();
                untilMoreRan();
                second.close();
                // The next version: it adds, and says that those before may go on.
                execute(
                        "alter table reprise_job add column next_versions text",
                        "insert into reprise_migration values (" + (LAST + 1) + ", 'next', 0, " + LAST + ")");
                untilMoreRan();
                try (Reprise restarted = worker(true)) {
                    assertThat(restarted.queues()).isNotEmpty();
                    untilMoreRan();
                }
                enough.set(true);
                producer.join();
                until(() -> runs.size() == enqueued.get());
                until(() -> first.queues().stream()
                                .mapToLong(queue -> queue.count(JobState.SUCCEEDED))
                                .sum()
                        == enqueued.get());
            }
        } finally {
            enough.set(true);
        }
        assertThat(runs.values()).as("runs of each job").containsOnly(1);
    }
}
