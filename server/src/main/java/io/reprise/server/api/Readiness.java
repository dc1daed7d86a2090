// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether the server can work. Probes are impatient, and a missing store may take half a minute to fail, so after two
 * seconds it counts as away. However many probes ask, one thread checks.
 */
public final class Readiness implements AutoCloseable {

    private static final long PATIENCE_SECONDS = 2;
    // Without the driver's message, which may name hosts and users.
    private static final List<String> AWAY = List.of("the store does not answer");

    /** Store calls end after half a minute, and a step makes few of them. */
    private static final Duration STUCK = Duration.ofMinutes(2);

    private static final Duration DEAD = Duration.ofMinutes(10);

    private static final List<String> STOPPING = List.of("the server is stopping");

    private final JobStore store;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(work -> {
        Thread looking = new Thread(work, "reprise-readiness");
        looking.setDaemon(true);
        return looking;
    });
    private final Supplier<Map<String, Duration>> parts;
    private @Nullable CompletableFuture<List<String>> look;
    private boolean stopping;

    /**
     * Creates the readiness of a server on a store.
     *
     * @param parts how long each part of the engine has been in its present step
     */
    public Readiness(JobStore store, Supplier<Map<String, Duration>> parts) {
        this.store = store;
        this.parts = parts;
    }

    /** Returns parts of the engine that are stuck for good, so that only a new process helps. Asks nobody. */
    List<String> deadlocks() {
        return stuck(DEAD);
    }

    private List<String> stuck(Duration limit) {
        return parts.get().entrySet().stream()
                .filter(part -> part.getValue().compareTo(limit) > 0)
                .map(part -> "the " + part.getKey() + " has been at one piece of work for "
                        + part.getValue().toSeconds() + " s")
                .toList();
    }

    /** Makes the server not ready from now on. */
    public synchronized void stopping() {
        stopping = true;
    }

    /** Returns the problems; empty if there are none. */
    synchronized CompletableFuture<List<String>> problems() {
        if (stopping) {
            return CompletableFuture.completedFuture(STOPPING);
        }
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
            return stuck(STUCK);
        } catch (StoreException e) {
            return AWAY;
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
