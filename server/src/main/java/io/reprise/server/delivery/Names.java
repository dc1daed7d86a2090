// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Looks up host names on threads of their own: the system's resolver has no timeout, and a slow look-up must not block
 * calls. A look-up that nobody waits for any more counts until it ends. Thread-safe.
 */
final class Names implements AutoCloseable {

    private static final int MAX = 64;
    private static final int MAX_OF_TENANT = 16;
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final OutboundGuard guard;
    private final Map<String, Integer> looking = new HashMap<>();
    private int all;
    private final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "reprise-names");
        thread.setDaemon(true);
        return thread;
    });

    Names(OutboundGuard guard) {
        this.guard = guard;
    }

    /** Returns the addresses of a host, checked by the guard. */
    CompletableFuture<List<InetAddress>> lookUp(String host, String tenant) {
        CompletableFuture<List<InetAddress>> found = new CompletableFuture<>();
        if (!enter(tenant)) {
            found.completeExceptionally(new IOException("Too many names are being looked up: " + host + " must wait"));
            return found;
        }
        threads.execute(() -> {
            try {
                found.complete(guard.resolve(host));
            } catch (Throwable e) { // The waiting call must learn of any failure.
                found.completeExceptionally(e);
            } finally {
                leave(tenant);
            }
        });
        return found;
    }

    /**
     * Returns the addresses of a host. Fails with an {@link IOException} if there are none within the
     * limit, at most ten seconds.
     */
    CompletableFuture<List<InetAddress>> lookUp(String host, String tenant, Duration limit) {
        Duration most = limit.compareTo(LIMIT) < 0 ? limit : LIMIT;
        CompletableFuture<List<InetAddress>> timely = new CompletableFuture<>();
        CompletableFuture<?> unused = lookUp(host, tenant)
                .orTimeout(most.toNanos(), TimeUnit.NANOSECONDS)
                .whenComplete((addresses, failure) -> {
                    if (failure == null) {
                        timely.complete(addresses);
                    } else {
                        timely.completeExceptionally(
                                failure instanceof TimeoutException
                                        ? new IOException("The name " + host + " was not resolved in time", failure)
                                        : failure);
                    }
                });
        return timely;
    }

    private synchronized boolean enter(String tenant) {
        int own = looking.getOrDefault(tenant, 0);
        if (all >= MAX || own >= MAX_OF_TENANT) {
            return false;
        }
        looking.put(tenant, own + 1);
        all++;
        return true;
    }

    private synchronized void leave(String tenant) {
        looking.computeIfPresent(tenant, (name, own) -> own == 1 ? null : own - 1);
        all--;
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
