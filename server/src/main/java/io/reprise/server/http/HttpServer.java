// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** The listening server. Thread-safe. */
public final class HttpServer implements AutoCloseable {

    private static final long STOP_MILLIS = 5_000;

    private final Server server;
    private final ServerConnector connector;
    private final JettyHandler handler;
    private final HttpSettings settings;

    private HttpServer(Server server, ServerConnector connector, JettyHandler handler, HttpSettings settings) {
        this.server = server;
        this.connector = connector;
        this.handler = handler;
        this.settings = settings;
    }

    /**
     * Starts to listen.
     *
     * @throws IOException if it cannot, for instance because another listens there
     */
    public static HttpServer start(HttpSettings settings, Gate gate, List<? extends Endpoints> parts)
            throws IOException {
        List<Operation> operations = new ArrayList<>();
        parts.forEach(part -> operations.addAll(part.operations()));
        HttpSettings.Limits limits = settings.limits();
        QueuedThreadPool threads = new QueuedThreadPool(limits.threads(), Math.min(4, limits.threads()));
        threads.setName("reprise-http");
        threads.setDaemon(true);
        Server server = new Server(threads);
        ServerConnector connector = connector(server, settings);
        connector.setHost(settings.host());
        connector.setPort(settings.port());
        connector.setIdleTimeout(limits.idle().toMillis());
        connector.setAcceptQueueSize(128);
        server.addConnector(connector);
        server.addBean(new NetworkConnectionLimit(limits.connections(), connector));
        SlowHeaders slow = new SlowHeaders(connector.getScheduler(), limits.request());
        connector.addBean(slow);
        JettyHandler handler = new JettyHandler(new Router(operations), gate, limits, slow);
        server.setHandler(handler);
        server.setErrorHandler(JettyHandler::error);
        // Jetty's own way to wait is for connections, which clients keep open; what matters is requests.
        server.setStopTimeout(0);
        HttpServer started = new HttpServer(server, connector, handler, settings);
        started.start();
        slow.start();
        return started;
    }

    private static ServerConnector connector(Server server, HttpSettings settings) {
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        http.setSendDateHeader(true);
        http.setRequestHeaderSize(settings.limits().header());
        http.setIdleTimeout(settings.limits().idle().toMillis());
        // Names may contain a slash, sent as %2F.
        http.setUriCompliance(UriCompliance.DEFAULT.with("names", UriCompliance.Violation.AMBIGUOUS_PATH_SEPARATOR));
        HttpSettings.Tls tls = settings.tls();
        if (tls == null) {
            return new ServerConnector(server, 1, 1, new HttpConnectionFactory(http));
        }
        SslContextFactory.Server context = new SslContextFactory.Server();
        context.setKeyStorePath(tls.keyStore().toAbsolutePath().toString());
        context.setKeyStorePassword(tls.password());
        http.addCustomizer(new SecureRequestCustomizer(false));
        HttpConnectionFactory plain = new HttpConnectionFactory(http);
        return new ServerConnector(server, 1, 1, new SslConnectionFactory(context, plain.getProtocol()), plain);
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

    /** Where it listens. */
    public int port() {
        return connector.getLocalPort();
    }

    public String url() {
        String host = settings.host().contains(":") ? "[" + settings.host() + "]" : settings.host();
        return (settings.tls() == null ? "http://" : "https://") + host + ":" + port();
    }

    /** Takes no more requests, ends streams, and gives those under way a moment to finish. */
    @Override
    public void close() {
        connector.close();
        handler.endStreams();
        handler.awaitIdle(STOP_MILLIS);
        try {
            server.stop();
        } catch (Exception e) {
            throw new IllegalStateException("The HTTP server did not stop: " + e.getMessage(), e);
        }
    }
}
