// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A handler whose runs hold no thread: it begins a run and returns, and a callback ends the run later. Register it like
 * any other handler. The worker renews the lease of a run until the run ends.
 *
 * <p>A run counts against {@link RepriseBuilder#concurrency} until it ends, like a run that holds a thread.
 *
 * @param <P> class of the payload
 * @since 0.1.0
 */
public interface DeferredHandler<P> extends JobHandler<P> {

    /**
     * Begins a run and returns at once. If this method throws, the run has failed with that exception.
     *
     * @param payload the decoded payload
     * @param job the context of the run, valid until the run ends
     * @param end call it when the run is over, from any thread: with null for success, with the error for a failure.
     *     The first call counts, later calls are ignored
     * @return stops the run, in place of an interrupt. The worker calls it at most once, from any thread, on timeout,
     *     cancellation, a lost lease or shutdown
     * @throws Exception any exception; the retry policy judges it
     */
    Runnable begin(P payload, JobContext job, Consumer<@Nullable Throwable> end) throws Exception;

    /**
     * Begins a run and waits for its end. The engine does not call this method; it is for tests and for callers that
     * have a thread to spare. If the waiting thread is interrupted, it stops the run.
     *
     * @throws Exception the error that the run ended with; {@link ExecutionException} around a {@code Throwable} that
     *     is neither an {@code Exception} nor an {@code Error}
     * @throws InterruptedException if the waiting thread is interrupted
     */
    @Override
    default void handle(P payload, JobContext job) throws Exception {
        CompletableFuture<@Nullable Throwable> over = new CompletableFuture<>();
        Runnable stop = begin(payload, job, over::complete);
        Throwable error;
        try {
            error = over.get();
        } catch (InterruptedException e) {
            stop.run();
            throw e;
        }
        if (error instanceof Error fatal) {
            throw fatal;
        }
        if (error != null) {
            throw error instanceof Exception failure ? failure : new ExecutionException(error);
        }
    }
}
