// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import io.reprise.server.net.AddressLimit;
import io.reprise.server.net.HttpSettings;
import io.reprise.server.net.PeekableEndPoint;
import io.reprise.server.net.SlowHeaders;
import io.reprise.server.net.TlsFiles;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.ProxyConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.jspecify.annotations.Nullable;

/** The listening server. Thread-safe. */
public final class HttpServer implements AutoCloseable {

    private static final long STOP_MILLIS = 5_000;
    private static final int IO_THREADS = 16;
    private static final long STREAM_MILLIS = 1_000;
    private static final long TLS_MILLIS = 2_000;

    private final Server server;
    private final ServerConnector connector;
    private final JettyHandler handler;
    private final HttpSettings settings;
    private final ScheduledExecutorService streams = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "reprise-streams");
        thread.setDaemon(true);
        return thread;
    });

    private HttpServer(Server server, ServerConnector connector, JettyHandler handler, HttpSettings settings) {
        this.server = server;
        this.connector = connector;
        this.handler = handler;
        this.settings = settings;
    }

    /**
     * Starts to listen.
     *
     * @throws IOException if it cannot, for instance because the port is taken
     */
    public static HttpServer start(HttpSettings settings, Gate gate, List<? extends Endpoints> parts)
            throws IOException {
        List<Operation> operations = new ArrayList<>();
        parts.forEach(part -> operations.addAll(part.operations()));
        HttpSettings.Limits limits = settings.limits();
        QueuedThreadPool workers = new QueuedThreadPool(limits.threads(), Math.min(4, limits.threads()));
        workers.setName("reprise-http");
        workers.setDaemon(true);
        // These threads read, write and answer liveness. They never wait for the store.
        QueuedThreadPool threads = new QueuedThreadPool(IO_THREADS, 4);
        threads.setName("reprise-http-io");
        threads.setDaemon(true);
        Server server = new Server(threads);
        server.addBean(workers);
        TlsFiles tls = settings.tls() == null ? null : new TlsFiles(settings.tls());
        ServerConnector connector = connector(server, settings, tls);
        connector.setHost(settings.host());
        connector.setPort(settings.port());
        connector.setIdleTimeout(limits.idle().toMillis());
        connector.setAcceptQueueSize(128);
        server.addConnector(connector);
        server.addBean(new NetworkConnectionLimit(limits.connections(), connector));
        HttpSettings.Proxies proxies = settings.proxies();
        connector.addBean(
                new AddressLimit(limits.perAddress(), proxies.protocol() ? address -> true : proxies.trusted()));
        SlowHeaders slow = new SlowHeaders(connector.getScheduler(), limits.request());
        connector.addBean(slow);
        JettyHandler handler =
                new JettyHandler(new Router(operations), gate, settings, slow, connector.getScheduler(), workers);
        server.setHandler(handler);
        server.setErrorHandler(JettyHandler::error);
        // Jetty's own stop waits for connections, which clients keep open. Requests are what matters.
        server.setStopTimeout(0);
        HttpServer started = new HttpServer(server, connector, handler, settings);
        started.start();
        slow.start();
        started.lookAfterStreams();
        if (tls != null) {
            started.lookAfterCertificate(tls);
        }
        return started;
    }

    /** Runs on its own thread, because it may call the store. */
    private void lookAfterStreams() {
        Future<?> unused = streams.scheduleWithFixedDelay(
                handler::endRevoked, STREAM_MILLIS, STREAM_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void lookAfterCertificate(TlsFiles tls) {
        Future<?> unused =
                streams.scheduleWithFixedDelay(tls::reloadIfChanged, TLS_MILLIS, TLS_MILLIS, TimeUnit.MILLISECONDS);
    }

    private static ServerConnector connector(Server server, HttpSettings settings, @Nullable TlsFiles tls) {
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        http.setSendDateHeader(true);
        http.setRequestHeaderSize(settings.limits().header());
        http.setIdleTimeout(settings.limits().idle().toMillis());
        // Names may contain a slash, sent as %2F.
        http.setUriCompliance(UriCompliance.DEFAULT.with("names", UriCompliance.Violation.AMBIGUOUS_PATH_SEPARATOR));
        HttpConnectionFactory plain = new HttpConnectionFactory(http);
        List<ConnectionFactory> factories = new ArrayList<>(List.of(plain));
        if (tls != null) {
            http.addCustomizer(new SecureRequestCustomizer(false));
            factories.add(0, new SslConnectionFactory(tls.context(), plain.getProtocol()));
        }
        if (settings.proxies().protocol()) {
            factories.add(0, new ProxyConnectionFactory(factories.get(0).getProtocol()));
        }
        return new ServerConnector(server, 1, 1, factories.toArray(new ConnectionFactory[0])) {
            @Override
            protected SocketChannelEndPoint newEndPoint(
                    SocketChannel channel, ManagedSelector selector, SelectionKey key) {
                SocketChannelEndPoint end = new PeekableEndPoint(channel, selector, key, getScheduler(), getExecutor());
                end.setIdleTimeout(getIdleTimeout());
                return end;
            }
        };
    }

    private void start() throws IOException {
        try {
            server.start();
        } catch (Exception e) {
            try {
                server.stop();
            } catch (Exception again) {
                e.addSuppressed(again);
            }
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IOException(
                    "Cannot listen on " + settings.host() + ":" + settings.port() + ": " + cause.getMessage(), e);
        }
    }

    /** Returns the port on which it listens. */
    public int port() {
        return connector.getLocalPort();
    }

    public String url() {
        String host = settings.host().contains(":") ? "[" + settings.host() + "]" : settings.host();
        return (settings.tls() == null ? "http://" : "https://") + host + ":" + port();
    }

    /** Takes no more requests, ends streams, and gives requests under way a moment to finish. */
    @Override
    public void close() {
        connector.close();
        streams.shutdownNow();
        handler.endStreams();
        handler.awaitIdle(STOP_MILLIS);
        try {
            server.stop();
        } catch (Exception e) {
            throw new IllegalStateException("The HTTP server did not stop: " + e.getMessage(), e);
        }
    }
}
