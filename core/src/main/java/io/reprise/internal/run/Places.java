// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The places of a worker, as many as its {@code concurrency}. A run holds a place until its handler has ended, even if
 * it holds no thread. Runs without a place wait here, in order. Thread-safe.
 */
final class Places {

    private final Consumer<Run> onPlace;
    private final Deque<Run> waiting = new ArrayDeque<>();
    private int free;
    private boolean handingOut;

    /**
     * Creates the places of one worker.
     *
     * @param onPlace receives each run that waited and now holds a place
     */
    Places(int count, Consumer<Run> onPlace) {
        this.free = count;
        this.onPlace = onPlace;
    }

    /** Takes a place for the run. Returns false if there is none; then the run waits for one. */
    synchronized boolean take(Run run) {
        if (free == 0 || !waiting.isEmpty()) {
            waiting.add(run);
            return false;
        }
        free--;
        return true;
    }

    void release() {
        synchronized (this) {
            free++;
            // One caller hands out. Otherwise a run that ends in the caller's thread would call this again and again,
            // one level deeper each time.
            if (handingOut) {
                return;
            }
            handingOut = true;
        }
        for (Run run = next(); run != null; run = next()) {
            onPlace.accept(run);
        }
    }

    private synchronized @Nullable Run next() {
        handingOut = free > 0 && !waiting.isEmpty();
        if (!handingOut) {
            return null;
        }
        free--;
        return waiting.remove();
    }
}
