// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.bulk;

import io.reprise.Bulk;
import io.reprise.server.bulk.BulkJob.Progress;
import io.reprise.server.bulk.BulkJob.State;
import io.reprise.store.Document;
import io.reprise.store.JobStore;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
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

    /** How often a bulk that waits for a thread is written, so that nobody takes it for lost. */
    private static final long SEEN_EVERY_SECONDS = 20;

    private static final long STOP_SECONDS = 10;
    private static final Progress NONE = new Progress(0, 0, 0);

    private final JobStore store;
    private final AtomicBoolean stopping = new AtomicBoolean();

    /** Bulks without a thread, with the time when each was written last. */
    private final Map<String, Long> waiting = new ConcurrentHashMap<>();

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
        waiting.put(id, System.nanoTime());
        try {
            threads.execute(() -> run(id, bulk, act));
            return true;
        } catch (RejectedExecutionException e) {
            waiting.remove(id);
            return false;
        }
    }

    /** Writes the bulks that have waited for a while. The threads that they wait for call it. */
    private void seeWaiting(long now) {
        waiting.forEach((id, seen) -> {
            if (now - seen >= TimeUnit.SECONDS.toNanos(SEEN_EVERY_SECONDS) && waiting.replace(id, seen, now)) {
                write(id, NONE, State.RUNNING, null);
            }
        });
    }

    private void run(String id, Bulk bulk, Function<Bulk, Bulk.Result> act) {
        long[] written = {System.nanoTime()};
        waiting.remove(id);
        try {
            if (!write(id, NONE, State.RUNNING, null)) {
                return;
            }
            Bulk.Result result = act.apply(bulk.watchedBy(soFar -> {
                boolean due = System.nanoTime() - written[0] >= WRITE_EVERY_NANOS;
                if (due) {
                    written[0] = System.nanoTime();
                    seeWaiting(written[0]);
                }
                return !stopping.get() && (!due || write(id, Progress.of(soFar), State.RUNNING, null));
            }));
            boolean stopped = stopping.get();
            write(id, Progress.of(result), stopped ? State.LOST : State.DONE, stopped ? "the server stopped" : null);
        } catch (RuntimeException e) {
            log.warn("A bulk ended early: {}", e.getMessage(), e);
            fail(id);
        }
    }

    /** Notes the end without its reason: that is text of the database, and the reader may be a tenant. */
    private void fail(String id) {
        try {
            Document document = store.document(BulkJob.KIND, id).orElse(null);
            if (document != null) {
                BulkJob job = BulkJob.read(document);
                store.putDocument(document.with(
                        job.ended(State.FAILED, "it ended early; the log of the server says why", store.now())
                                .json()));
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
