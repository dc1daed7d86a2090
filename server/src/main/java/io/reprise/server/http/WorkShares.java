// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Threads that several owners share, of which none has more than a part at once: what is beyond it waits until work of the same owner is done, and
 * keeps no thread meanwhile. Thread-safe.
 */
final class WorkShares {

    /** Requests of one owner that are under way. */
    private static final class Share {
        private final Deque<Runnable> waiting = new ArrayDeque<>();
        private int working;
    }

    private final Executor threads;
    private final int most;
    private final Map<String, Share> shares = new HashMap<>();

    /**
     * Shares of threads.
     *
     * @param most that one owner may have
     */
    WorkShares(Executor threads, int most) {
        this.threads = threads;
        this.most = most;
    }

    /** Does the work now, in this thread, or later in another. */
    void run(String owner, Runnable work) {
        if (begin(owner, work)) {
            work(owner, work);
        }
    }

    private synchronized boolean begin(String owner, Runnable work) {
        Share share = shares.computeIfAbsent(owner, name -> new Share());
        if (share.working >= most) {
            share.waiting.addLast(work);
            return false;
        }
        share.working++;
        return true;
    }

    private void work(String owner, Runnable work) {
        try {
            work.run();
        } finally {
            Runnable next = next(owner);
            if (next != null) {
                // Not in this thread: others may have waited for longer.
                threads.execute(() -> work(owner, next));
            }
        }
    }

    private synchronized @Nullable Runnable next(String owner) {
        Share share = shares.get(owner);
        if (share == null) {
            return null;
        }
        Runnable next = share.waiting.pollFirst();
        if (next == null && --share.working == 0) {
            shares.remove(owner);
        }
        return next;
    }
}
