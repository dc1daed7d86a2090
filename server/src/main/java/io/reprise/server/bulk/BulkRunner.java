// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.bulk;

import io.reprise.Bulk;
import io.reprise.server.bulk.BulkJob.Progress;
import io.reprise.server.bulk.BulkJob.State;
import io.reprise.store.Document;
import io.reprise.store.JobStore;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs bulks of this process, two at a time, and writes how far they have come. Thread-safe. */
public final class BulkRunner implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");
    private static final int THREADS = 2;
    private static final int WAITING = 50;
    private static final int TRIES = 5;
    private static final long WRITE_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long STOP_SECONDS = 10;

    private final JobStore store;
    private final AtomicBoolean stopping = new AtomicBoolean();
    private final ThreadPoolExecutor threads =
            new ThreadPoolExecutor(THREADS, THREADS, 1, TimeUnit.MINUTES, new ArrayBlockingQueue<>(WAITING), work -> {
                Thread thread = new Thread(work, "reprise-bulk");
                thread.setDaemon(true);
                return thread;
            });

    public BulkRunner(JobStore store) {
        this.store = store;
        threads.allowCoreThreadTimeOut(true);
    }

    /**
     * Runs a bulk soon.
     *
     * @param act performs the action of a bulk
     * @return whether there is room for it
     */
    boolean start(String id, Bulk bulk, Function<Bulk, Bulk.Result> act) {
        try {
            threads.execute(() -> run(id, bulk, act));
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    private void run(String id, Bulk bulk, Function<Bulk, Bulk.Result> act) {
        long[] written = {System.nanoTime()};
        try {
            Bulk.Result result = act.apply(bulk.watchedBy(soFar -> {
                boolean due = System.nanoTime() - written[0] >= WRITE_EVERY_NANOS;
                if (due) {
                    written[0] = System.nanoTime();
                }
                return !stopping.get() && (!due || write(id, Progress.of(soFar), State.RUNNING, null));
            }));
            boolean stopped = stopping.get();
            write(id, Progress.of(result), stopped ? State.LOST : State.DONE, stopped ? "the server stopped" : null);
        } catch (RuntimeException e) {
            log.warn("A bulk ended early: {}", e.getMessage(), e);
            fail(id, String.valueOf(e.getMessage()));
        }
    }

    private void fail(String id, String why) {
        try {
            Document document = store.document(BulkJob.KIND, id).orElse(null);
            if (document != null) {
                BulkJob job = BulkJob.read(document);
                store.putDocument(
                        document.with(job.ended(State.FAILED, why, store.now()).json()));
            }
        } catch (RuntimeException e) {
            log.debug("The end of a bulk could not be written: {}", e.getMessage());
        }
    }

    /** Writes the progress. Returns whether to go on: a person may have cancelled the bulk meanwhile. */
    private boolean write(String id, Progress progress, State state, @Nullable String note) {
        for (int tries = 0; tries < TRIES; tries++) {
            Document document = store.document(BulkJob.KIND, id).orElse(null);
            if (document == null) {
                return false;
            }
            BulkJob job = BulkJob.read(document).at(progress, store.now());
            boolean cancelled = job.state() == State.CANCELLED;
            BulkJob next = cancelled || state == State.RUNNING ? job : job.ended(state, note, store.now());
            if (store.putDocument(document.with(next.json())).isPresent()) {
                return !cancelled;
            }
        }
        return true;
    }

    @Override
    public void close() {
        stopping.set(true);
        threads.shutdown();
        try {
            if (!threads.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)) {
                threads.shutdownNow();
            }
        } catch (InterruptedException e) {
            threads.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }
}
