// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.server.auth.Quotas;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Measures from time to time how many bytes tenants have stored. The longer a measurement takes, the rarer it is. */
public final class BytesMeter implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");
    private static final Duration REST = Duration.ofMinutes(1);

    /** The rest is at least this many times as long as the measurement. */
    private static final int SHARE = 50;

    private final Quotas quotas;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread made = new Thread(work, "reprise-bytes");
        made.setDaemon(true);
        return made;
    });

    public BytesMeter(Quotas quotas) {
        this.quotas = quotas;
    }

    public void start() {
        next(Duration.ZERO);
    }

    private void next(Duration rest) {
        Future<?> unused = thread.schedule(this::measure, rest.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void measure() {
        long from = System.nanoTime();
        try {
            quotas.measure();
        } catch (StoreException e) {
            log.warn("How many bytes tenants have is not known: {}", e.getMessage());
        } catch (RuntimeException e) {
            log.error("How many bytes tenants have could not be measured, in an unforeseen way", e);
        }
        Duration took = Duration.ofNanos(System.nanoTime() - from).multipliedBy(SHARE);
        if (!thread.isShutdown()) {
            next(took.compareTo(REST) > 0 ? took : REST);
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
