// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import io.reprise.internal.run.HandlerExecutor;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * An executor with as many places as a pool has threads. A run occupies a place from {@link #take} until {@link #free}.
 */
public final class SimulatedExecutor implements HandlerExecutor {

    private final int places;
    private final Deque<Runnable> waiting = new ArrayDeque<>();
    private int taken;

    SimulatedExecutor(int places) {
        this.places = places;
    }

    @Override
    public void execute(Runnable work) {
        waiting.add(work);
        start();
    }

    public void take() {
        taken++;
    }

    public void free() {
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
        waiting.clear();
    }
}
