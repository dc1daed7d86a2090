// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import ch.qos.logback.classic.Level;
import io.reprise.JobContext;
import io.reprise.JobSignal;
import io.reprise.Reprise;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.JdbcTransaction;
import io.reprise.store.StoreException;
import io.reprise.testkit.history.HistoryFile;
import io.reprise.testkit.history.RecordingStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A worker in a process of its own, which writes its history to a file. */
final class FaultWorker {

    /** The file whose being there lets held jobs go. */
    static final String RELEASE = "release";

    private static final Duration MOMENT = Duration.ofMillis(2);

    private final String url;
    private final Path directory;
    private final String name;
    private final HistoryFile history;

    private FaultWorker(String url, Path directory, String name) {
        this.url = url;
        this.directory = directory;
        this.name = name;
        this.history = new HistoryFile(historyFile(directory, name));
    }

    static Path historyFile(Path directory, String name) {
        return directory.resolve(name + ".history");
    }

    /** Arguments: URL of the store, directory for the history, name, seconds that a call of the store may take. */
    public static void main(String[] args) throws InterruptedException {
        ((ch.qos.logback.classic.Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
        endWithParent();
        FaultWorker worker = new FaultWorker(args[0], Path.of(args[1]), args[2]);
        Reprise reprise = worker.startInTheEnd(Duration.ofSeconds(Long.parseLong(args[3])));
        Runtime.getRuntime().addShutdownHook(new Thread(reprise::close));
        new CountDownLatch(1).await();
    }

    /** A test that was itself killed leaves nobody behind. */
    private static void endWithParent() {
        ProcessHandle test = ProcessHandle.current().parent().orElseThrow();
        Thread watch = new Thread(() -> {
            test.onExit().join();
            Runtime.getRuntime().halt(1);
        });
        watch.setDaemon(true);
        watch.start();
    }

    /** Tries again, as whoever looks after such processes would, while the database has trouble. */
    private Reprise startInTheEnd(Duration timeout) {
        while (true) {
            try {
                return start(timeout);
            } catch (StoreException e) {
                if (!e.isTransient()) {
                    throw e;
                }
            }
        }
    }

    private Reprise start(Duration timeout) {
        JdbcJobStore store = JdbcJobStore.builder().timeout(timeout).poolSize(4).open(url);
        try {
            return Reprise.builder()
                    .name(name)
                    .store(RecordingStore.around(store, name, history))
                    .codec(new Work.TextCodec())
                    .concurrency(6)
                    .lease(Work.LEASE)
                    .poll(Duration.ofMillis(50))
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
                long end = System.nanoTime() + Work.LEASE.toNanos() * 3 / 2;
                while (System.nanoTime() - end < 0) {
                    job.checkpoint();
                    pause(MOMENT);
                }
            }
            case HELD -> {
                while (!Files.exists(directory.resolve(RELEASE))) {
                    pause(MOMENT);
                }
            }
            case TRANSACTIONAL -> complete(job);
        }
    }

    private void complete(JobContext job) throws SQLException {
        try (Connection connection = DriverManager.getConnection(FaultRun.jdbcUrl(url))) {
            connection.setAutoCommit(false);
            try (PreparedStatement effect = connection.prepareStatement("insert into effect (job) values (?)")) {
                effect.setLong(1, job.id().value());
                effect.executeUpdate();
            }
            job.complete(JdbcTransaction.of(connection));
            connection.commit();
        }
    }

    private static void pause(Duration duration) {
        LockSupport.parkNanos(duration.toNanos());
    }
}
