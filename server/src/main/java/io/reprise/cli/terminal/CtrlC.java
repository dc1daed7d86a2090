// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.terminal;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Turns the end of the process into a request to stop, and delays the end until the work is finished. */
public final class CtrlC implements AutoCloseable {

    private static final Duration SHORT = Duration.ofSeconds(15);

    private final Duration most;
    private final CountDownLatch requested = new CountDownLatch(1);
    private final CountDownLatch finished = new CountDownLatch(1);
    private final Thread hook = new Thread(this::holdUp, "ctrl-c");

    private CtrlC(Duration most) {
        this.most = most;
    }

    public static CtrlC listen() {
        return listen(SHORT);
    }

    /** Delays the end by at most this time. */
    public static CtrlC listen(Duration most) {
        CtrlC listening = new CtrlC(most);
        Runtime.getRuntime().addShutdownHook(listening.hook);
        return listening;
    }

    /** Waits this long, or less if a stop is requested. Returns whether a stop was requested. */
    public boolean await(Duration pause) throws InterruptedException {
        return requested.await(pause.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void holdUp() {
        requested.countDown();
        try {
            if (!finished.await(most.toNanos(), TimeUnit.NANOSECONDS)) {
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
                // The process is already ending; the hook lets it.
            }
        }
    }
}
