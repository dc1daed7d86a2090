// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Job;
import io.reprise.JobRequest;
import io.reprise.JobState;
import io.reprise.Reprise;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.store.JobQuery;
import io.reprise.store.Page;
import io.reprise.store.StoreException;
import io.reprise.testkit.faults.JavaProcess;
import io.reprise.testkit.history.History;
import io.reprise.testkit.history.HistoryChecker;
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
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A database, workers on it in processes of their own, and a client that enqueues. At the end everything must drain, and
 * the history must be one that is allowed to happen.
 */
final class FaultRun implements AutoCloseable {

    /** Runs of figures rather than of minutes: {@code -Dreprise.faults=long}. */
    private static final boolean LONG = System.getProperty("reprise.faults", "").equals("long");

    private static final Duration LIMIT = Duration.ofSeconds(LONG ? 600 : 180);
    private static final Duration CALL = Duration.ofSeconds(2);
    private static final int BACKLOG = 100;

    private final Path directory;
    private final String url;
    private final HistoryFile log;
    private final Reprise client;
    private final List<Worker> workers = new ArrayList<>();
    private final AtomicInteger acknowledged = new AtomicInteger();
    private final AtomicInteger unknown = new AtomicInteger();
    private volatile @Nullable StoreException refusal;
    private final AtomicInteger insisted = new AtomicInteger();
    private final List<Thread> load = new ArrayList<>();
    private volatile boolean loading;
    private volatile boolean closed;
    private volatile @Nullable Throwable loadFailure;
    private volatile long lastSucceeded;

    FaultRun(Path directory, String url) {
        this.directory = directory;
        this.url = url;
        this.log = new HistoryFile(FaultWorker.historyFile(directory, "client"));
        JdbcJobStore store = JdbcJobStore.builder().timeout(CALL).open(url);
        this.client = Reprise.builder()
                .store(RecordingStore.around(store, "client", log))
                .codec(new Work.TextCodec())
                .start();
        execute("create table effect (job bigint not null)");
    }

    /** The first number, or the second in a long run. */
    static int times(int usually, int inLongRuns) {
        return LONG ? inLongRuns : usually;
    }

    static String jdbcUrl(String url) {
        String jdbc = url.startsWith("jdbc:") ? url : "jdbc:" + url;
        return jdbc.startsWith("jdbc:sqlite:")
                ? jdbc + "?transaction_mode=IMMEDIATE&busy_timeout=5000"
                : jdbc + "&socketTimeout=5&connectTimeout=5";
    }

    /** A worker's process. */
    final class Worker implements AutoCloseable {

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

        @Override
        public void close() {
            process.close();
        }
    }

    Worker startWorker() {
        return startWorker(url);
    }

    Worker startWorker(String storeUrl) {
        Worker worker = new Worker("worker-" + (workers.size() + 1), storeUrl);
        workers.add(worker);
        return worker;
    }

    /** Jobs whose enqueue may or may not have happened are not counted on, but must not be half there either. */
    boolean enqueue(List<JobRequest<String>> jobs) {
        try {
            client.enqueueAll(jobs);
            acknowledged.addAndGet(jobs.size());
            return true;
        } catch (StoreException e) {
            unknown.addAndGet(jobs.size());
            refusal = e;
            return false;
        }
    }

    boolean enqueue(Work work, int jobs) {
        return enqueue(Stream.generate(work::job).limit(jobs).toList());
    }

    int acknowledged() {
        return acknowledged.get();
    }

    int unknown() {
        return unknown.get();
    }

    /** Why an enqueue failed last. */
    StoreException refusal() {
        return Objects.requireNonNull(refusal, "nothing was refused");
    }

    /** Enqueues as fast as the jobs are done, from now on until the end: batches, and single jobs each until it is told. */
    void startLoad() {
        loading = true;
        load.add(new Thread(() -> whileLoading(() -> enqueue(Work.mixture())), "load"));
        load.add(new Thread(() -> whileLoading(this::insist), "insistent load"));
        load.forEach(thread -> {
            thread.setUncaughtExceptionHandler((which, failure) -> loadFailure = failure);
            thread.start();
        });
    }

    private void whileLoading(Runnable step) {
        while (loading) {
            if (live() < BACKLOG) {
                step.run();
            } else {
                LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
            }
        }
    }

    /** Enqueues one job again and again under one key until it is acknowledged: it must be there once. */
    private void insist() {
        String key = key(insisted.getAndIncrement());
        boolean stored = false;
        while (!stored && !closed) {
            try {
                client.enqueue(Work.QUICK.job().idempotencyKey(key));
                stored = true;
            } catch (StoreException e) {
                refusal = e;
            }
        }
        acknowledged.incrementAndGet();
    }

    private static String key(int n) {
        return String.format("once-%08d", n);
    }

    private void stopLoad() {
        loading = false;
        for (Thread thread : load) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private long live() {
        return count(JobState.PENDING, JobState.RUNNING);
    }

    /** How many jobs are in these states, or -1 if the store does not say. */
    private long count(JobState... states) {
        try {
            return client.queues().stream()
                    .mapToLong(queue -> Stream.of(states).mapToLong(queue::count).sum())
                    .sum();
        } catch (StoreException e) {
            return -1;
        }
    }

    /** As far as the store last said. */
    private long succeeded() {
        lastSucceeded = Math.max(lastSucceeded, count(JobState.SUCCEEDED));
        return lastSucceeded;
    }

    /** Waits until so many jobs more have succeeded. */
    void awaitProgress(int jobs) {
        long before = succeeded();
        until(jobs + " more jobs done", () -> succeeded() >= before + jobs);
    }

    void awaitDone() {
        until("everything to be done", () -> live() == 0);
    }

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
                logs.append(worker.name).append(":\n").append(worker.process.logTail()).append('\n');
            }
        }
        return logs.toString();
    }

    /** Waits until nothing is left to do, stops the workers in order, and checks everything that was written down. */
    void drainAndCheck(String what) {
        stopLoad();
        assertThat(loadFailure).as("what the client was not prepared for").isNull();
        awaitDone();
        for (Worker worker : workers) {
            if (worker.process.isAlive()) {
                worker.process.terminate();
            }
        }
        List<Job> jobs = jobs();
        jobs.forEach(job -> RecordingStore.row(log, job, client.attempts(job.id())));
        History history = History.read(historyFiles());
        assertThat(HistoryChecker.check(history, CALL, true)).as(what).isEmpty();
        assertThat(jobs).hasSizeBetween(acknowledged.get(), acknowledged.get() + unknown.get());
        assertThat(jobs).allSatisfy(job -> assertThat(job.state())
                .as("end of %s", job)
                .isEqualTo(work(job).end()));
        assertThat(jobs)
                .filteredOn(job -> job.state() == JobState.FAILED)
                .allSatisfy(job -> assertThat(job.attempts()).isEqualTo(Work.MAX_ATTEMPTS));
        assertThat(effects())
                .containsExactlyElementsOf(jobs.stream()
                        .filter(job -> work(job) == Work.TRANSACTIONAL)
                        .map(job -> job.id().value())
                        .sorted()
                        .toList());
        assertThat(jobs.stream().map(job -> job.spec().idempotencyKey()).filter(Objects::nonNull).sorted())
                .containsExactlyElementsOf(
                        IntStream.range(0, insisted.get()).mapToObj(FaultRun::key).toList());
        System.out.printf(
                "%s: %d jobs acknowledged, %d unknown, %d found and checked, %d events, %d worker processes%n",
                what, acknowledged.get(), unknown.get(), jobs.size(), history.events().size(), workers.size());
    }

    private static Work work(Job job) {
        String payload = job.spec().payload();
        return Work.valueOf(payload.substring(1, payload.length() - 1));
    }

    private List<Job> jobs() {
        List<Job> jobs = new ArrayList<>();
        JobQuery query = JobQuery.all().limit(JobQuery.MAX_LIMIT);
        Page<Job> page;
        do {
            page = client.find(query);
            jobs.addAll(page.items());
            query = query.after(page.next());
        } while (page.next() != null);
        return jobs;
    }

    private List<Path> historyFiles() {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".history")).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<Long> effects() {
        try (Connection connection = DriverManager.getConnection(jdbcUrl(url));
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select job from effect order by job")) {
            List<Long> effects = new ArrayList<>();
            while (rows.next()) {
                effects.add(rows.getLong(1));
            }
            return effects;
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    private void execute(String sql) {
        try (Connection connection = DriverManager.getConnection(jdbcUrl(url));
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        closed = true;
        stopLoad();
        workers.forEach(Worker::close);
        client.close();
        log.close();
    }
}
