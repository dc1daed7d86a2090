// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.bulk;

import io.reprise.Bulk;
import io.reprise.server.bulk.BulkJob.Progress;
import io.reprise.server.bulk.BulkJob.State;
import io.reprise.store.Document;
import io.reprise.store.JobStore;
import io.reprise.text.Truncation;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs bulks of this process and writes how far they have come. Two work at a time. After each chunk a bulk lets those go
 * first that have waited for longer, so a long bulk of one tenant does not hold up a short one of another. Thread-safe.
 */
public final class BulkRunner implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");
    private static final int AT_ONCE = 2;

    /** A bulk has a thread that mostly waits for its turn. */
    private static final int MOST_BULKS = 50;

    private static final int TRIES = 5;
    private static final long WRITE_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** How often a bulk that waits for its turn is written, so that nobody takes it for lost. */
    private static final long SEEN_EVERY_SECONDS = 20;

    private static final long STOP_SECONDS = 10;
    private static final int MAX_NOTE = 1_000;
    private static final Progress NONE = new Progress(0, 0, 0);

    private final JobStore store;
    private final AtomicBoolean stopping = new AtomicBoolean();

    /** One for each chunk that is under way; who has waited longest is next. */
    private final Semaphore turns = new Semaphore(AT_ONCE, true);

    private final ThreadPoolExecutor threads =
            new ThreadPoolExecutor(0, MOST_BULKS, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), work -> {
                Thread thread = new Thread(work, "reprise-bulk");
                thread.setDaemon(true);
                return thread;
            });

    public BulkRunner(JobStore store) {
        this.store = store;
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

    /** Number of bulks that wait for their turn, for tests. */
    int waiting() {
        return turns.getQueueLength();
    }

    private void run(String id, Bulk bulk, Function<Bulk, Bulk.Result> act) {
        long[] written = {System.nanoTime()};
        boolean begins = awaitTurn(id, NONE);
        try {
            if (!begins || !write(id, NONE, State.RUNNING, null)) {
                end(id, NONE, null);
                return;
            }
            Bulk.Result result = act.apply(bulk.watchedBy(soFar -> {
                turns.release();
                boolean goesOn = awaitTurn(id, Progress.of(soFar));
                boolean due = System.nanoTime() - written[0] >= WRITE_EVERY_NANOS;
                if (due) {
                    written[0] = System.nanoTime();
                }
                return goesOn && (!due || write(id, Progress.of(soFar), State.RUNNING, null));
            }));
            end(id, Progress.of(result), refusal(result));
        } catch (RuntimeException e) {
            log.warn("A bulk ended early: {}", e.getMessage(), e);
            fail(id);
        } finally {
            turns.release();
        }
    }

    /** Writes the end. What was cancelled meanwhile stays cancelled. */
    private void end(String id, Progress progress, @Nullable String note) {
        boolean stopped = stopping.get();
        write(id, progress, stopped ? State.LOST : State.DONE, stopped ? "the server stopped" : note);
    }

    /** Returns why the first of the refused jobs was refused; null if none was. */
    private static @Nullable String refusal(Bulk.Result result) {
        return result.refused().values().stream()
                .findFirst()
                .map(why -> Truncation.cut("the first refusal: " + why, MAX_NOTE))
                .orElse(null);
    }

    /** Waits for a turn, which the caller has afterwards in any case. Returns whether to go on. */
    private boolean awaitTurn(String id, Progress progress) {
        boolean wanted = true;
        while (!tryTurn()) {
            try {
                wanted &= write(id, progress, State.RUNNING, null);
            } catch (RuntimeException e) {
                log.debug("The progress of a bulk could not be written: {}", e.getMessage());
            }
        }
        return wanted && !stopping.get();
    }

    private boolean tryTurn() {
        try {
            return turns.tryAcquire(SEEN_EVERY_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            // Only a stop interrupts, and there is a turn for everybody then.
            stopping.set(true);
            turns.acquireUninterruptibly();
            Thread.currentThread().interrupt();
            return true;
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
        turns.release(MOST_BULKS);
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
