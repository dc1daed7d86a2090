// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** Work of several owners on a few threads: one piece of each in turn, however much one of them brings. Thread-safe. */
final class FairQueue {

    private final Executor threads;

    /** Whose turn is next comes first. */
    private final Map<String, Deque<Runnable>> byOwner = new LinkedHashMap<>();

    FairQueue(Executor threads) {
        this.threads = threads;
    }

    void add(String owner, Runnable work) {
        synchronized (this) {
            byOwner.computeIfAbsent(owner, name -> new ArrayDeque<>()).addLast(work);
        }
        try {
            // Which piece of work this is for is decided when a thread has time.
            threads.execute(this::next);
        } catch (RejectedExecutionException e) {
            // Closed meanwhile: nobody waits for an answer any more.
        }
    }

    private void next() {
        Runnable work = take();
        if (work != null) {
            work.run();
        }
    }

    private synchronized @Nullable Runnable take() {
        if (byOwner.isEmpty()) {
            return null;
        }
        Iterator<Map.Entry<String, Deque<Runnable>>> owners = byOwner.entrySet().iterator();
        Map.Entry<String, Deque<Runnable>> first = owners.next();
        String owner = first.getKey();
        Deque<Runnable> own = first.getValue();
        owners.remove();
        Runnable work = own.removeFirst();
        if (!own.isEmpty()) {
            byOwner.put(owner, own);
        }
        return work;
    }
}
