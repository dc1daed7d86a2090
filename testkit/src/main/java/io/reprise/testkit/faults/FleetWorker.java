// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.faults;

import io.reprise.JobContext;
import io.reprise.Reprise;
import io.reprise.history.HistoryFile;
import io.reprise.history.RecordingStore;
import io.reprise.job.JobSignal;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * A worker of a {@link FaultFleet} in its own process, which writes its history to a file. A program for one kind of store
 * passes its arguments to the constructor and calls {@link #work()}.
 */
public abstract class FleetWorker {

    /** If this file exists, held jobs end. */
    static final String RELEASE = "release";

    private static final Duration MOMENT = Duration.ofMillis(2);

    private final String url;
    private final Path directory;
    private final String name;
    private final Tempo tempo;
    private final HistoryFile history;

    /** Reads the arguments that a fleet gives: URL of the store, directory for the history, name, tempo. */
    protected FleetWorker(String[] args) {
        this.url = args[0];
        this.directory = Path.of(args[1]);
        this.name = args[2];
        this.tempo = Tempo.valueOf(args[3]);
        this.history = new HistoryFile(historyFile(directory, name));
    }

    /** Opens the store. */
    protected abstract JobStore open(String url, Duration timeout);

    /** Completes a job in its own transaction, together with an effect. */
    protected abstract void complete(String url, JobContext job) throws Exception;

    static Path historyFile(Path directory, String name) {
        return directory.resolve(name + ".history");
    }

    /** Works until the process is ended. */
    protected final void work() throws InterruptedException {
        endWithParent();
        Reprise reprise = startInTheEnd();
        Runtime.getRuntime().addShutdownHook(new Thread(reprise::close));
        new CountDownLatch(1).await();
    }

    /** Ends the process if the test is killed. */
    private static void endWithParent() {
        ProcessHandle test = ProcessHandle.current().parent().orElseThrow();
        Thread watch = new Thread(() -> {
            test.onExit().join();
            Runtime.getRuntime().halt(1);
        });
        watch.setDaemon(true);
        watch.start();
    }

    /** Tries to start again while the database has trouble, as a process supervisor would. */
    private Reprise startInTheEnd() {
        while (true) {
            try {
                return start();
            } catch (StoreException e) {
                if (!e.isTransient()) {
                    throw e;
                }
            }
        }
    }

    private Reprise start() {
        JobStore store = open(url, tempo.call());
        try {
            return Reprise.builder()
                    .name(name)
                    .store(RecordingStore.around(store, name, history))
                    .codec(new Work.TextCodec())
                    .concurrency(6)
                    .lease(tempo.lease())
                    .poll(tempo.poll())
                    .stopGrace(Duration.ofSeconds(5))
                    .listener(event -> history.told(name, event))
                    .handle(Work.TYPE, this::run)
                    .start();
        } catch (StoreException e) {
            store.close();
            throw e;
        }
    }

    private void run(String payload, JobContext job) throws Exception {
        history.started(name, job.id().value(), job.token(), Map.of());
        boolean done = false;
        try {
            work(Work.valueOf(payload), job);
            done = true;
        } finally {
            history.ended(name, job.id().value(), job.token(), !done);
        }
    }

    private void work(Work work, JobContext job) throws Exception {
        switch (work) {
            case QUICK -> pause(MOMENT);
            case FLAKY -> {
                if (job.attempt() < Work.MAX_ATTEMPTS) {
                    throw new IOException("not yet");
                }
            }
            case DOOMED -> throw new IOException("never");
            case SNOOZING -> {
                if (job.job().counts().snoozes() < 2) {
                    throw JobSignal.snooze(Duration.ofMillis(20));
                }
            }
            case SLOW -> {
                long end = System.nanoTime() + tempo.lease().toNanos() * 3 / 2;
                while (System.nanoTime() - end < 0) {
                    job.checkpoint();
                    pause(MOMENT);
                }
            }
            case HELD -> {
                while (!Files.exists(directory.resolve(RELEASE))) {
                    pause(MOMENT);
                    // An interrupted thread would not rest any more.
                    Thread.interrupted();
                }
            }
            case TRANSACTIONAL -> complete(url, job);
        }
    }

    private static void pause(Duration duration) {
        LockSupport.parkNanos(duration.toNanos());
    }
}
