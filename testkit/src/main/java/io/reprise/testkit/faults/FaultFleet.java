// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.faults;

import io.reprise.Reprise;
import io.reprise.history.HistoryEvent;
import io.reprise.history.HistoryFile;
import io.reprise.history.JobHistory;
import io.reprise.history.RecordingStore;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.store.JobStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * A database, workers on it in their own processes, and a client that enqueues. At the end all jobs must have ended,
 * and the history must be valid.
 */
public abstract class FaultFleet implements AutoCloseable {

    /** Long runs, for figures rather than for every build: {@code -Dreprise.faults=long}. */
    private static final boolean LONG = System.getProperty("reprise.faults", "").equals("long");

    /** Jobs that prove that a worker works. */
    private static final int SOME = 10;

    /** Limit for conditions that never hold. */
    private static final Duration LIMIT = Duration.ofMinutes(10);

    private final Path directory;
    private final String url;
    private final Class<?> program;
    private final Tempo tempo;
    private final HistoryFile log;
    private final Reprise client;
    private final Load load;
    private final List<Worker> workers = new ArrayList<>();
    private long lastSucceeded;

    /**
     * Creates a fleet.
     *
     * @param url URL for the workers
     * @param program a {@link FleetWorker}
     * @param store store of the client, which closes it
     */
    protected FaultFleet(Path directory, String url, Class<?> program, JobStore store, Tempo tempo) {
        this.directory = directory;
        this.url = url;
        this.program = program;
        this.tempo = tempo;
        this.log = new HistoryFile(FleetWorker.historyFile(directory, "client"));
        this.client = Insist.on(() -> Reprise.builder()
                .store(RecordingStore.around(store, "client", log))
                .codec(new Work.TextCodec())
                .start());
        this.load = new Load(client, tempo);
    }

    /** Returns the jobs that had an effect in their own transaction, in order, as often as they had it. */
    protected abstract List<Long> effects();

    /** Returns the first number, or the second in a long run. */
    public static int times(int usually, int inLongRuns) {
        return LONG ? inLongRuns : usually;
    }

    /** A worker's process. */
    public final class Worker {

        private final String name;
        private final JavaProcess process;

        private Worker(String name, String storeUrl) {
            this.name = name;
            this.process = JavaProcess.start(
                    program, directory.resolve(name + ".log"), storeUrl, directory.toString(), name, tempo.name());
        }

        public JavaProcess process() {
            return process;
        }

        /** Returns its events so far. */
        public List<HistoryEvent> events() {
            Path file = FleetWorker.historyFile(directory, name);
            return Files.exists(file) ? JobHistory.read(List.of(file)).events() : List.of();
        }

        public long historySize() {
            try {
                Path file = FleetWorker.historyFile(directory, name);
                return Files.exists(file) ? Files.size(file) : 0;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        public long count(HistoryEvent.Kind kind) {
            return events().stream().filter(event -> event.kind() == kind).count();
        }

        /** Returns how many of its store calls failed without a known effect. */
        public long lostAnswers() {
            return events().stream().filter(HistoryEvent::isLostAnswer).count();
        }

        /**
         * Returns how many of its store calls failed. Even an idle worker writes from time to time, because it leads.
         */
        public long failedCalls() {
            return lostAnswers() + count(HistoryEvent.Kind.UNANSWERED);
        }

        /**
         * Disturbs its connection until the effect of one of its calls is unknown. It may be idle at that moment, so
         * that only a read fails; then it is repeated.
         */
        public void confuse(Runnable harm, Runnable heal) {
            long before = lostAnswers();
            while (lostAnswers() == before) {
                awaitMore(HistoryEvent.Kind.ACCEPTED, SOME);
                long failed = failedCalls();
                harm.run();
                until("a call of " + name + " to fail", () -> failedCalls() > failed);
                heal.run();
            }
        }

        /** Waits for this many more events. Use it only for endless work: events from before this call do not count. */
        public void awaitMore(HistoryEvent.Kind kind, int more) {
            await(kind, count(kind) + more);
        }

        /** Waits until it has this many events since its start. */
        public void await(HistoryEvent.Kind kind, long times) {
            until(name + " " + kind, () -> count(kind) >= times);
        }
    }

    /** Returns how fast workers are. */
    public Tempo tempo() {
        return tempo;
    }

    public Load load() {
        return load;
    }

    public Worker startWorker() {
        return startWorker(url);
    }

    public Worker startWorker(String storeUrl) {
        Worker worker = new Worker("worker-" + (workers.size() + 1), storeUrl);
        workers.add(worker);
        return worker;
    }

    /** Waits until this many more jobs have succeeded. */
    public void awaitProgress(int jobs) {
        long before = succeeded();
        until(jobs + " more jobs done", () -> succeeded() >= before + jobs);
    }

    /** Returns the number of succeeded jobs, as the store last reported it. */
    private long succeeded() {
        lastSucceeded = Math.max(lastSucceeded, load.count(JobState.SUCCEEDED));
        return lastSucceeded;
    }

    /** Waits until some worker runs this job. */
    public void awaitStart(JobId job) {
        until(
                "job " + job + " to run",
                () -> workers.stream()
                        .flatMap(worker -> worker.events().stream())
                        .anyMatch(event -> event.kind() == HistoryEvent.Kind.STARTED && event.job() == job.value()));
    }

    public void awaitDone() {
        until("everything to be done", () -> load.count(JobState.PENDING, JobState.RUNNING) == 0);
    }

    /** Lets the held jobs end. */
    public void release() {
        try {
            Files.createFile(directory.resolve(FleetWorker.RELEASE));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits for a condition. The limit is for conditions that never hold. */
    public void until(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            load.requireSound();
            if (System.nanoTime() - end > 0 || Thread.currentThread().isInterrupted()) {
                throw new AssertionError("Waited too long for " + what + ".\n" + logs());
            }
            LockSupport.parkNanos(tempo.rest().toNanos());
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

    /** Waits until all jobs have ended, stops the workers in an orderly way, and checks the histories. */
    public void drainAndCheck(String what) {
        load.stop();
        awaitDone();
        for (Worker worker : workers) {
            if (worker.process.isAlive()) {
                worker.process.terminate();
            }
        }
        FaultVerdict verdict = new FaultVerdict(client, log);
        int events = verdict.checkHistory(() -> JobHistory.read(historyFiles()), tempo.call());
        verdict.checkStored(load);
        verdict.checkEnds();
        verdict.checkEffects(effects());
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

    @Override
    public void close() {
        load.abandon();
        workers.forEach(worker -> worker.process.close());
        client.close();
        log.close();
    }
}
