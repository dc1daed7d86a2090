// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A proxy between a client and a server on this machine that disturbs connections. It can stall them, in one direction
 * or both. It can also slow them, refuse them, or reset them, even in the middle of an answer. A fault affects existing
 * and later connections, until {@link #heal()}. Thread-safe.
 */
public final class TcpProxy implements AutoCloseable {

    /** The direction of bytes. */
    public enum Direction {
        TO_SERVER,
        TO_CLIENT
    }

    private static final int BACKLOG = 200;
    private static final int CONNECT_MILLIS = 10_000;

    private final InetSocketAddress server;
    private final int port;
    private final Map<Direction, Valve> valves = new EnumMap<>(Direction.class);
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final AtomicInteger accepted = new AtomicInteger();
    private final AtomicInteger broken = new AtomicInteger();
    private final AtomicLong toCut = new AtomicLong(-1);
    private @Nullable ServerSocket listener;
    private @Nullable Thread acceptor;

    private TcpProxy(InetSocketAddress server) {
        this.server = server;
        for (Direction direction : Direction.values()) {
            valves.put(direction, new Valve());
        }
        this.port = listen(0);
    }

    /** Creates a proxy on a free port of the loopback interface, in front of another port there. */
    public static TcpProxy before(int serverPort) {
        return new TcpProxy(new InetSocketAddress(InetAddress.getLoopbackAddress(), serverPort));
    }

    /** Returns the port for clients. It never changes. */
    public int port() {
        return port;
    }

    /** Returns the number of open connections. */
    public int connections() {
        return links.size();
    }

    /** Returns the number of connections accepted so far. */
    public int accepted() {
        return accepted.get();
    }

    /** Returns the number of connections that this proxy has reset. */
    public int broken() {
        return broken.get();
    }

    /** Stops all bytes. Connections stay open, and new ones are accepted but never answered. */
    public void stall() {
        for (Direction direction : Direction.values()) {
            stall(direction);
        }
    }

    /** Stops bytes in one direction. Towards the client alone, requests take effect and answers do not arrive. */
    public void stall(Direction direction) {
        valve(direction).stall();
    }

    /** Delays every portion by this time. */
    public void slow(Direction direction, long millis) {
        valve(direction).slow(millis);
    }

    /** Resets all open connections. New ones are accepted. */
    public void cut() {
        for (Link link : links) {
            link.reset();
        }
    }

    /** Lets this many more bytes pass to clients, then resets the connection that carried the last one. Works once. */
    public void cutAfter(long bytesToClient) {
        toCut.set(bytesToClient);
    }

    /** Resets all connections and refuses new ones. */
    public synchronized void refuse() {
        closeQuietly(listener);
        awaitEnd(acceptor);
        listener = null;
        acceptor = null;
        cut();
    }

    /** As long as a thread waits in the kernel for connections, the kernel accepts them. */
    private static void awaitEnd(@Nullable Thread thread) {
        if (thread != null) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Ends every fault. Stalled connections continue where they stopped. */
    public synchronized void heal() {
        if (listener == null) {
            listen(port);
        }
        toCut.set(-1);
        valves.values().forEach(Valve::open);
    }

    @Override
    public void close() {
        refuse();
        valves.values().forEach(Valve::open);
    }

    private Valve valve(Direction direction) {
        Valve valve = valves.get(direction);
        if (valve == null) {
            throw new IllegalArgumentException("no way " + direction);
        }
        return valve;
    }

    private int listen(int wanted) {
        try {
            ServerSocket socket = new ServerSocket();
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), wanted), BACKLOG);
            listener = socket;
            acceptor = daemon("tcp-proxy-" + socket.getLocalPort(), () -> acceptAll(socket));
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void acceptAll(ServerSocket socket) {
        while (!socket.isClosed()) {
            try {
                Socket client = socket.accept();
                accepted.incrementAndGet();
                connect(client);
            } catch (IOException e) {
                // The listener was closed, or a client left at once.
            }
        }
    }

    /** If the server is down, the connection is reset as soon as it is made. */
    private void connect(Socket client) {
        Socket upstream = new Socket();
        Link link = new Link(client, upstream);
        try {
            upstream.connect(server, CONNECT_MILLIS);
            client.setTcpNoDelay(true);
            upstream.setTcpNoDelay(true);
        } catch (IOException e) {
            link.reset();
            return;
        }
        links.add(link);
        daemon("tcp-proxy-up", () -> link.pump(client, upstream, Direction.TO_SERVER));
        daemon("tcp-proxy-down", () -> link.pump(upstream, client, Direction.TO_CLIENT));
    }

    private static Thread daemon(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void closeQuietly(@Nullable AutoCloseable closeable) {
        if (closeable != null) {
            try {
                closeable.close();
            } catch (Exception ignored) {
                // The socket is discarded either way.
            }
        }
    }

    /** One connection of a client, with our connection to the server. */
    private final class Link {

        private final Socket client;
        private final Socket upstream;
        private volatile boolean closed;

        Link(Socket client, Socket upstream) {
            this.client = client;
            this.upstream = upstream;
        }

        void pump(Socket from, Socket to, Direction direction) {
            byte[] buffer = new byte[8_192];
            try {
                for (int n = from.getInputStream().read(buffer);
                        n >= 0 && valve(direction).pass(() -> closed);
                        n = from.getInputStream().read(buffer)) {
                    int most = direction == Direction.TO_CLIENT ? allowed(n) : n;
                    to.getOutputStream().write(buffer, 0, most);
                    to.getOutputStream().flush();
                    if (most < n) {
                        reset();
                        return;
                    }
                }
            } catch (IOException e) {
                // One end is gone; closing tells the other.
            }
            close();
        }

        private int allowed(int bytes) {
            long left = toCut.getAndUpdate(old -> old < 0 ? old : old >= bytes ? old - bytes : -1);
            return left < 0 || left >= bytes ? bytes : (int) left;
        }

        /** Resets both ends, as a machine that was switched off and on again does. */
        void reset() {
            broken.incrementAndGet();
            for (Socket socket : new Socket[] {client, upstream}) {
                try {
                    socket.setSoLinger(true, 0);
                } catch (IOException e) {
                    // Already closed.
                }
            }
            close();
        }

        private void close() {
            closed = true;
            links.remove(this);
            closeQuietly(client);
            closeQuietly(upstream);
            valves.values().forEach(Valve::look);
        }
    }
}
