// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.net;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * Closes connections that take too long to send the headers of a request, or to finish the TLS handshake. Jetty closes
 * only silent connections: a client that sends a byte from time to time could keep one for hours. Thread-safe.
 */
public final class SlowHeaders implements Connection.Listener {

    private final Scheduler scheduler;
    private final long limitNanos;
    private final Map<Connection, Progress> connections = new ConcurrentHashMap<>();

    /** The progress of one connection. Guarded by itself. */
    private static final class Progress {
        private boolean inRequest;
        private long bytes;
        private long sinceNanos = System.nanoTime();

        synchronized void begun() {
            inRequest = true;
        }

        synchronized void ended(long bytesNow) {
            inRequest = false;
            bytes = bytesNow;
            sinceNanos = System.nanoTime();
        }

        /** Whether bytes have come, but no complete request, for longer than the limit. */
        synchronized boolean isSlow(long bytesNow, long limitNanos) {
            if (inRequest || bytesNow == bytes) {
                bytes = bytesNow;
                sinceNanos = System.nanoTime();
                return false;
            }
            return System.nanoTime() - sinceNanos > limitNanos;
        }
    }

    public SlowHeaders(Scheduler scheduler, Duration limit) {
        this.scheduler = scheduler;
        this.limitNanos = limit.toNanos();
    }

    /** Begins to check, four times within the limit. */
    public void start() {
        Scheduler.Task unused = scheduler.schedule(this::look, limitNanos / 4, TimeUnit.NANOSECONDS);
    }

    private void look() {
        connections.forEach((connection, progress) -> {
            if (progress.isSlow(bytes(connection), limitNanos)) {
                connection.getEndPoint().close(new TimeoutException("The headers did not arrive in time"));
            }
        });
        start();
    }

    @Override
    public void onOpened(Connection connection) {
        // The connection inside is opened at the same time, and its requests are watched.
        if (!(connection instanceof SslConnection)) {
            connections.put(connection, new Progress());
        }
    }

    @Override
    public void onClosed(Connection connection) {
        connections.remove(connection);
    }

    /** Notes that the headers of a request have arrived. */
    public void begun(Connection connection) {
        Progress progress = connections.get(connection);
        if (progress != null) {
            progress.begun();
        }
    }

    /** Notes that a request was answered. */
    public void ended(Connection connection) {
        Progress progress = connections.get(connection);
        if (progress != null) {
            progress.ended(bytes(connection));
        }
    }

    private static long bytes(Connection connection) {
        return connection.getEndPoint() instanceof SslConnection.SslEndPoint tls
                ? tls.getSslConnection().getBytesIn()
                : connection.getBytesIn();
    }
}
