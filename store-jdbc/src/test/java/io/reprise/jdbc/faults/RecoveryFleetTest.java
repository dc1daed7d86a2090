// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.JobRequest;
import io.reprise.Reprise;
import io.reprise.control.BreakerPhase;
import io.reprise.insight.ResourceStatus;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.JobState;
import io.reprise.testkit.Slow;
import io.reprise.testkit.faults.JavaProcess;
import io.reprise.testkit.faults.Work;
import io.reprise.testkit.servers.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A worker is killed as {@code kill -9} does while a resource that was down is ramped up again. */
@Slow
@Timeout(1200)
class RecoveryFleetTest {

    private static final String RESOURCE = "provider-a";
    private static final int JOBS = 40_000;
    private static final int BATCH = 10_000;
    private static final int ROUNDS = 3;

    /** A ramp that collapses lets through some ten jobs in a second, and would need an hour. */
    private static final Duration PATIENCE = Duration.ofMinutes(8);

    @TempDir
    private Path directory;

    private final Map<String, JavaProcess> workers = new LinkedHashMap<>();
    private String url;
    private Reprise client;
    private Path down;

    @BeforeEach
    void start() {
        url = PostgresServer.shared().freshDatabaseUrl();
        down = directory.resolve("down");
        client = Reprise.builder()
                .store(JdbcJobStore.open(url))
                .codec(new Work.TextCodec())
                .start();
    }

    @AfterEach
    void stop() {
        workers.values().forEach(JavaProcess::close);
        client.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void all_jobs_are_done_though_a_worker_or_the_leader_is_killed_during_the_ramp(boolean leader) throws IOException {
        enqueue();
        startWorker("worker-1");
        startWorker("worker-2");
        until("a quarter of the jobs", () -> count(JobState.SUCCEEDED) > JOBS / 4);
        Files.createFile(down);
        awaitProbes();
        long before = count(JobState.SUCCEEDED);
        Files.delete(down);
        until("the ramp", () -> count(JobState.SUCCEEDED) > before && hasRamped());
        kill(leader);
        assertThat(count(JobState.SUCCEEDED)).as("jobs done when it was killed").isLessThan(JOBS);
        until("all jobs to be done", () -> count(JobState.PENDING) + count(JobState.RUNNING) == 0);
        assertThat(count(JobState.SUCCEEDED)).isEqualTo(JOBS);
        assertThat(count(JobState.FAILED)).isZero();
        until("the breaker to close", () -> phase() == BreakerPhase.CLOSED);
    }

    private void enqueue() {
        for (int from = 0; from < JOBS; from += BATCH) {
            List<JobRequest<String>> jobs =
                    Collections.nCopies(BATCH, OutageWorker.CALL.job("x").resource(RESOURCE));
            client.enqueueAll(jobs);
        }
    }

    private void startWorker(String name) {
        workers.put(
                name,
                JavaProcess.start(OutageWorker.class, directory.resolve(name + ".log"), url, name, down.toString()));
    }

    private void awaitProbes() {
        Set<Instant> rounds = new HashSet<>();
        until("probes", () -> {
            Instant next = status() == null ? null : status().nextProbe();
            if (next != null) {
                rounds.add(next);
            }
            return rounds.size() > ROUNDS;
        });
    }

    /** Kills the worker that leads, or the other one. */
    private void kill(boolean leader) {
        String leading = leader();
        List<String> meant = new ArrayList<>(workers.keySet());
        meant.removeIf(name -> name.equals(leading) != leader);
        assertThat(meant).as("whom to kill; %s leads", leading).hasSize(1);
        workers.get(meant.get(0)).kill();
    }

    private String leader() {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select worker from reprise_role")) {
            assertThat(row.next()).as("somebody leads").isTrue();
            return row.getString(1);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    private ResourceStatus status() {
        return client.resources().stream()
                .filter(resource -> resource.name().equals(RESOURCE))
                .findFirst()
                .orElse(null);
    }

    private BreakerPhase phase() {
        ResourceStatus status = status();
        return status == null ? BreakerPhase.CLOSED : status.phase();
    }

    /** Or is over, which this test may see first. */
    private boolean hasRamped() {
        return phase() == BreakerPhase.RAMPING || phase() == BreakerPhase.CLOSED;
    }

    private long count(JobState state) {
        return client.queues().stream().mapToLong(queue -> queue.count(state)).sum();
    }

    private void until(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0 || Thread.currentThread().isInterrupted()) {
                throw new AssertionError("Waited for " + what + ": " + client.queues() + " " + client.resources()
                        + workers.values().stream().map(JavaProcess::logTail).toList());
            }
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        }
    }
}
