// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.internal.run.HandlerExecutor;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.RejectedExecutionException;

/** An executor with as many places as a pool has threads. A handler occupies a place from its start to its end. */
final class PlacesExecutor implements HandlerExecutor {

    private final ChaosWorker worker;
    private final int places;
    private final Deque<Runnable> waiting = new ArrayDeque<>();
    private int taken;
    private boolean closed;

    PlacesExecutor(ChaosWorker worker, int places) {
        this.worker = worker;
        this.places = places;
    }

    @Override
    public void execute(Runnable work) {
        if (closed) {
            throw new RejectedExecutionException("closed");
        }
        waiting.add(work);
        // Not in this step: a thread of a pool starts later.
        worker.world().timeline().after(Duration.ZERO, worker.label("bench"), () -> worker.whenAwake(this::start));
    }

    void take() {
        taken++;
    }

    void free() {
        taken--;
        start();
    }

    private void start() {
        while (taken < places && !waiting.isEmpty()) {
            waiting.remove().run();
        }
    }

    @Override
    public void close() {
        closed = true;
        waiting.clear();
    }
}
