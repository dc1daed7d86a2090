// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Batch;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.batch.BatchState;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.retry.RetryPolicy;
import io.reprise.testkit.Slow;
import io.reprise.testkit.TestRun;
import io.reprise.testkit.faults.JavaProcess;
import io.reprise.testkit.faults.Work;
import io.reprise.testkit.servers.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs that end together, while workers and with them the leader are killed. */
class BatchUnderKillsTest {

    /** Members; {@code -Dreprise.batch.members=1000000} for the size of a real import. */
    private static final int MEMBERS = Integer.getInteger("reprise.batch.members", 20_000);

    /** Members that succeed between two kills: about 20 kills, and 50 for many members. */
    private static final int PACE = Math.max(Math.min(1_000, MEMBERS / 20), MEMBERS / 50);

    private static final int CHUNK = 10_000;
    private static final int WORKERS = 2;

    @TempDir
    Path directory;

    @Slow
    @Test
    void a_batch_ends_once_and_never_early_whoever_is_killed() throws SQLException {
        String url = PostgresServer.shared().freshDatabaseUrl();
        try (Reprise reprise = Reprise.builder()
                .store(JdbcJobStore.open(url))
                .codec(new Work.TextCodec())
                .start()) {
            execute(url, "create table noted (what text not null, open bigint not null)");
            Batch batch = reprise.batch(BatchWorker.BATCH)
                    .onSuccess(BatchWorker.SUCCESS.job("success"))
                    .onEnd(BatchWorker.END.job("end"));
            for (int from = 0; from < MEMBERS; from += CHUNK) {
                batch.addAll(IntStream.range(from, Math.min(MEMBERS, from + CHUNK))
                        .mapToObj(i -> BatchWorker.PART.job("part " + i))
                        .toList());
            }
            batch.close();
            int kills = killUntilTheEnd(reprise, url);
            BatchState end = reprise.findBatch(BatchWorker.BATCH).orElseThrow();
            assertThat(end.succeeded()).as("%s after %s kills", end, kills).isEqualTo(MEMBERS);
            assertThat(end.endedAt()).isNotNull();
            assertThat(end.succeededAt()).isNotNull();
            assertThat(noted(url)).containsExactlyInAnyOrder("end with 0 open", "success with 0 open");
            assertThat(kills).isPositive();
        }
    }

    /** Kills a worker again and again, the oldest first: one of them leads. Returns how often. */
    private int killUntilTheEnd(Reprise reprise, String url) throws SQLException {
        Deque<JavaProcess> workers = new ArrayDeque<>();
        int kills = 0;
        try {
            for (int i = 0; i < WORKERS; i++) {
                workers.add(start(url, i));
            }
            long done = 0;
            while (noted(url).size() < 2) {
                long now = reprise.findBatch(BatchWorker.BATCH).orElseThrow().succeeded();
                // Each worker gets something done before it dies, so that the kills do not stop the work.
                if (now > done + PACE && now < MEMBERS) {
                    done = now;
                    kills++;
                    try (JavaProcess oldest = workers.remove()) {
                        oldest.kill();
                    }
                    workers.add(start(url, WORKERS + kills));
                }
                LockSupport.parkNanos(50_000_000);
            }
        } finally {
            workers.forEach(JavaProcess::close);
        }
        return kills;
    }

    private JavaProcess start(String url, int number) {
        return JavaProcess.start(BatchWorker.class, directory.resolve("worker-" + number + ".log"), url);
    }

    @Test
    void a_join_of_many_jobs_wakes_its_parent_once() {
        int children = TestRun.size(500, 10_000);
        JobType<String> child = JobType.of("child", String.class);
        JobType<String> parent = JobType.of("parent", String.class)
                .retry(RetryPolicy.exponential().noDeadline());
        AtomicInteger calls = new AtomicInteger();
        List<String> joined = new ArrayList<>();
        List<String> payloads =
                IntStream.range(0, children).mapToObj(i -> "child " + i).toList();
        try (Reprise reprise = Reprise.builder()
                .store(JdbcJobStore.open(PostgresServer.shared().freshDatabaseUrl()))
                .codec(new Work.TextCodec())
                .handle(child, (name, job) -> job.result("result of " + name))
                .handle(parent, (name, job) -> {
                    calls.incrementAndGet();
                    joined.addAll(job.join("children", child.jobs(payloads), String.class));
                })
                .start()) {
            JobId id = reprise.enqueue(parent.job("parent"));
            assertThat(reprise.await(id, Duration.ofMinutes(10)).job().state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(calls).hasValue(2);
            assertThat(joined).hasSize(children).startsWith("result of child 0");
            assertThat(joined.get(children - 1)).isEqualTo("result of child " + (children - 1));
        }
    }

    private static void execute(String url, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static List<String> noted(String url) throws SQLException {
        List<String> noted = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select what, open from noted")) {
            while (rows.next()) {
                noted.add(rows.getString(1) + " with " + rows.getLong(2) + " open");
            }
        }
        return noted;
    }
}
