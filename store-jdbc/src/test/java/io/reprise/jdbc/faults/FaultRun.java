// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.JobState;
import io.reprise.Reprise;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.testkit.faults.JavaProcess;
import io.reprise.testkit.history.History;
import io.reprise.testkit.history.HistoryEvent;
import io.reprise.testkit.history.HistoryFile;
import io.reprise.testkit.history.RecordingStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * A database, workers on it in processes of their own, and a client that enqueues. At the end everything must drain, and
 * the history must be one that is allowed to happen.
 */
final class FaultRun implements AutoCloseable {

    /** Runs for figures rather than for every build: {@code -Dreprise.faults=long}. */
    private static final boolean LONG = System.getProperty("reprise.faults", "").equals("long");

    private static final Duration LIMIT = Duration.ofSeconds(LONG ? 600 : 180);
    private static final Duration CALL = Duration.ofSeconds(2);

    private final Path directory;
    private final String url;
    private final HistoryFile log;
    private final Reprise client;
    private final Load load;
    private final List<Worker> workers = new ArrayList<>();
    private long lastSucceeded;

    FaultRun(Path directory, String url) {
        this.directory = directory;
        this.url = url;
        this.log = new HistoryFile(FaultWorker.historyFile(directory, "client"));
        JdbcJobStore store = JdbcJobStore.builder().timeout(CALL).open(url);
        this.client = Reprise.builder()
                .store(RecordingStore.around(store, "client", log))
                .codec(new Work.TextCodec())
                .start();
        this.load = new Load(client);
        query("create table effect (job bigint not null)");
    }

    /** The first number, or the second in a long run. */
    static int times(int usually, int inLongRuns) {
        return LONG ? inLongRuns : usually;
    }

    static String jdbcUrl(String url) {
        String jdbc = url.startsWith("jdbc:") ? url : "jdbc:" + url;
        if (jdbc.startsWith("jdbc:sqlite:")) {
            return jdbc + "?transaction_mode=IMMEDIATE&busy_timeout=5000";
        }
        // Seconds with the one driver, milliseconds with the other.
        String five = jdbc.startsWith("jdbc:mariadb:") ? "5000" : "5";
        return jdbc + "&socketTimeout=" + five + "&connectTimeout=" + five;
    }

    /** A worker's process. */
    final class Worker {

        private final String name;
        private final JavaProcess process;

        Worker(String name, String storeUrl) {
            this.name = name;
            this.process = JavaProcess.start(
                    FaultWorker.class,
                    directory.resolve(name + ".log"),
                    storeUrl,
                    directory.toString(),
                    name,
                    Long.toString(CALL.toSeconds()));
        }

        JavaProcess process() {
            return process;
        }

        /** What it has told so far. */
        List<HistoryEvent> events() {
            Path file = FaultWorker.historyFile(directory, name);
            return Files.exists(file) ? History.read(List.of(file)).events() : List.of();
        }

        long historySize() {
            try {
                Path file = FaultWorker.historyFile(directory, name);
                return Files.exists(file) ? Files.size(file) : 0;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        long count(HistoryEvent.Kind kind) {
            return events().stream().filter(event -> event.kind() == kind).count();
        }

        /** Waits until it has done so many things more. */
        void awaitMore(HistoryEvent.Kind kind, int more) {
            long before = count(kind);
            until(name + " " + kind, () -> count(kind) >= before + more);
        }
    }

    Load load() {
        return load;
    }

    Worker startWorker() {
        return startWorker(url);
    }

    Worker startWorker(String storeUrl) {
        Worker worker = new Worker("worker-" + (workers.size() + 1), storeUrl);
        workers.add(worker);
        return worker;
    }

    /** Waits until so many jobs more have succeeded. */
    void awaitProgress(int jobs) {
        long before = succeeded();
        until(jobs + " more jobs done", () -> succeeded() >= before + jobs);
    }

    /** As far as the store last said. */
    private long succeeded() {
        lastSucceeded = Math.max(lastSucceeded, load.count(JobState.SUCCEEDED));
        return lastSucceeded;
    }

    void awaitDone() {
        until("everything to be done", () -> load.count(JobState.PENDING, JobState.RUNNING) == 0);
    }

    /** Lets held jobs go. */
    void release() {
        try {
            Files.createFile(directory.resolve(FaultWorker.RELEASE));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits for a condition. The limit is for what never comes true. */
    void until(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("Waited in vain for " + what + ".\n" + logs());
            }
            LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
        }
    }

    private String logs() {
        StringBuilder logs = new StringBuilder();
        for (Worker worker : workers) {
            if (worker.process.isAlive()) {
                logs.append(worker.name)
                        .append(":\n")
                        .append(worker.process.logTail())
                        .append('\n');
            }
        }
        return logs.toString();
    }

    /** Waits until nothing is left to do, stops the workers in order, and checks everything that was written down. */
    void drainAndCheck(String what) {
        assertThat(load.stop()).as("what the client was not prepared for").isNull();
        awaitDone();
        for (Worker worker : workers) {
            if (worker.process.isAlive()) {
                worker.process.terminate();
            }
        }
        Verdict verdict = new Verdict(client, log);
        int events = verdict.checkHistory(() -> History.read(historyFiles()), CALL);
        verdict.checkStored(load);
        verdict.checkEnds();
        verdict.checkEffects(query("select job from effect order by job"));
        System.out.printf(
                "%s: %d jobs acknowledged, %d unknown, %d found and checked, %d events, %d worker processes%n",
                what, load.acknowledged(), load.unknown(), verdict.jobs(), events, workers.size());
    }

    private List<Path> historyFiles() {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".history")).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs a statement and returns the numbers in its first column, if it has an answer. */
    private List<Long> query(String sql) {
        try (Connection connection = DriverManager.getConnection(jdbcUrl(url));
                Statement statement = connection.createStatement()) {
            List<Long> numbers = new ArrayList<>();
            if (statement.execute(sql)) {
                try (ResultSet rows = statement.getResultSet()) {
                    while (rows.next()) {
                        numbers.add(rows.getLong(1));
                    }
                }
            }
            return numbers;
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        load.abandon();
        workers.forEach(worker -> worker.process.close());
        client.close();
        log.close();
    }
}
