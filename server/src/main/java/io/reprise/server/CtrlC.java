// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Turns the end of the process into a request, and holds it up until the work in hand is finished. */
final class CtrlC implements AutoCloseable {

    private static final long MAX_SECONDS = 15;

    private final CountDownLatch requested = new CountDownLatch(1);
    private final CountDownLatch finished = new CountDownLatch(1);
    private final Thread hook = new Thread(this::holdUp, "ctrl-c");

    private CtrlC() {}

    static CtrlC listen() {
        CtrlC listening = new CtrlC();
        Runtime.getRuntime().addShutdownHook(listening.hook);
        return listening;
    }

    /** Waits this long, or less if asked to stop; returns whether that was asked for. */
    boolean await(Duration pause) throws InterruptedException {
        return requested.await(pause.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void holdUp() {
        requested.countDown();
        try {
            if (!finished.await(MAX_SECONDS, TimeUnit.SECONDS)) {
                Thread.currentThread().interrupt();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        finished.countDown();
        if (requested.getCount() > 0) {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException e) {
                // The process began to end just now, and the hook lets it.
            }
        }
    }
}
