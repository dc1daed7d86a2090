// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Whether the server can work. Whoever asks has little patience, and a store that is away may take half a minute to say so:
 * after two seconds it counts as away. However many ask, one looks.
 */
final class Readiness implements AutoCloseable {

    private static final long PATIENCE_SECONDS = 2;
    // Not what the driver says: it may name hosts and users.
    private static final List<String> AWAY = List.of("the store does not answer");

    private final JobStore store;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(work -> {
        Thread looking = new Thread(work, "reprise-readiness");
        looking.setDaemon(true);
        return looking;
    });
    private @Nullable CompletableFuture<List<String>> look;

    Readiness(JobStore store) {
        this.store = store;
    }

    /** What is wrong; empty if nothing is. */
    synchronized CompletableFuture<List<String>> problems() {
        CompletableFuture<List<String>> current = look;
        if (current == null || current.isDone()) {
            current = CompletableFuture.supplyAsync(this::look, thread);
            look = current;
        }
        return current.copy().completeOnTimeout(AWAY, PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    private List<String> look() {
        try {
            store.now();
            store.liveQueues();
            return List.of();
        } catch (StoreException e) {
            return AWAY;
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
