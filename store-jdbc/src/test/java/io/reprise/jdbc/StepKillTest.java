// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Reprise;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.testkit.TestRun;
import io.reprise.testkit.faults.JavaProcess;
import io.reprise.testkit.servers.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A job of ten steps whose worker is killed before and after every statement of its run, one job for each point. Every
 * effect in the job's database is seen once, and an effect outside at most twice.
 */
class StepKillTest {

    @TempDir
    Path directory;

    @Test
    void a_killed_worker_repeats_no_step_in_sqlite() throws SQLException {
        killEverywhere(
                "jdbc:sqlite:" + directory.resolve("jobs.db"), JdbcJobStore.sqlite(directory.resolve("jobs.db")));
    }

    @Test
    void a_killed_worker_repeats_no_step_in_postgresql() throws SQLException {
        String url = PostgresServer.shared().freshDatabaseUrl();
        killEverywhere(url, JdbcJobStore.postgresql(url, null, null));
    }

    private void killEverywhere(String url, JdbcJobStore store) throws SQLException {
        try (Reprise reprise =
                Reprise.builder().store(store).codec(new StepVictim.TextCodec()).start()) {
            execute(url, "create table effect (job bigint not null, step varchar(20) not null)");
            int statements = count(url, reprise);
            assertThat(statements).isGreaterThan(3 * StepVictim.STEPS);
            List<JobId> jobs = new ArrayList<>();
            int points = Math.min(2 * statements, TestRun.size(8, 1_000));
            for (int i = 0; i < points; i++) {
                int point = (int) ((long) i * 2 * statements / points);
                jobs.add(kill(url, reprise, point / 2 + 1, point % 2 == 0 ? "before" : "after"));
            }
            try (JavaProcess worker = start(url, "", "finisher", "0", "before")) {
                for (JobId id : jobs) {
                    Job job = reprise.await(id, Duration.ofMinutes(10)).job();
                    assertThat(job.state()).as("%s: %s", job, worker.logTail()).isEqualTo(JobState.SUCCEEDED);
                    assertThat(job.status().result()).isEqualTo("0123456789");
                    check(id, effects(url, id));
                }
            }
        }
    }

    /** Runs one job to its end. Returns how many statements its run has. */
    private int count(String url, Reprise reprise) {
        JobId id = reprise.enqueue(StepVictim.ORDER.job("whole").queue("whole"));
        try (JavaProcess worker = start(url, "whole", "whole", "0", "before", id.toString())) {
            int code = awaitEnd(worker);
            assertThat(reprise.find(id).orElseThrow().state())
                    .as(worker.logTail())
                    .isEqualTo(JobState.SUCCEEDED);
            return code;
        }
    }

    private JobId kill(String url, Reprise reprise, int statement, String when) {
        String queue = when + "-" + statement;
        JobId id = reprise.enqueue(StepVictim.ORDER.job(queue).queue(queue));
        try (JavaProcess worker = start(url, queue, queue, Integer.toString(statement), when, id.toString())) {
            awaitEnd(worker);
        }
        return id;
    }

    private JavaProcess start(String url, String queue, String name, String... args) {
        List<String> all = new ArrayList<>(List.of(url, queue));
        all.addAll(List.of(args));
        return JavaProcess.start(StepVictim.class, directory.resolve(name + ".log"), all.toArray(String[]::new));
    }

    private static int awaitEnd(JavaProcess worker) {
        for (int looks = 0; worker.isAlive(); looks++) {
            assertThat(looks).as(worker.logTail()).isLessThan(60_000);
            LockSupport.parkNanos(5_000_000);
        }
        return worker.exitCode();
    }

    private static void check(JobId id, Map<String, Integer> effects) {
        int again = 0;
        for (int i = 0; i < StepVictim.STEPS; i++) {
            int times = effects.getOrDefault("s" + i, 0);
            again += times - 1;
            assertThat(times).as("effects of step %s of job %s", i, id).isBetween(1, i % 2 == 0 ? 1 : 2);
        }
        assertThat(again).as("repeated effects of job %s", id).isLessThanOrEqualTo(1);
    }

    private static Map<String, Integer> effects(String url, JobId id) throws SQLException {
        Map<String, Integer> effects = new HashMap<>();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select step from effect where job = " + id.value())) {
            while (rows.next()) {
                effects.merge(rows.getString(1), 1, Integer::sum);
            }
        }
        return effects;
    }

    private static void execute(String url, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
