// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A handler whose runs hold no thread: it begins a run, and somebody says later how the run ended, such as the callback of a client.
 * Registered like any other. A run still takes one of the worker's slots, and its lease is renewed until it ends.
 */
public interface DeferredHandler<P> extends JobHandler<P> {

    /**
     * Begins a run and returns at once. What this throws ends the run.
     *
     * @param end to be called once, by any thread, when the run is over: with what it failed of, or with null
     * @return takes the place of an interrupt: called at most once, by any thread, if the run is to stop
     */
    Runnable begin(P payload, JobContext job, Consumer<@Nullable Throwable> end) throws Exception;

    /** Begins a run and waits for its end. An engine does not call this. */
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
