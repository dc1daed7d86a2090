// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import io.reprise.RepriseException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.eclipse.jetty.client.BytesRequestContent;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.client.Request;
import org.eclipse.jetty.client.Response;
import org.eclipse.jetty.client.Result;
import org.eclipse.jetty.http.HttpCookieStore;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.util.Promise;
import org.eclipse.jetty.util.SocketAddressResolver;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.jspecify.annotations.Nullable;

/**
 * Makes calls, and none that its guard refuses. Whenever a connection is opened the guard resolves the host, and the
 * connection goes to the addresses the guard has just looked at and to no others: a name that changes its address meanwhile
 * gains nothing. Certificates are checked against the name. Follows no redirects, keeps no cookies, decompresses nothing.
 * Thread-safe.
 */
public final class OutboundClient implements AutoCloseable {

    private static final Duration CONNECT = Duration.ofSeconds(10);
    private static final Duration IDLE = Duration.ofSeconds(20);
    private static final int MAX_THREADS = 32;
    private static final int MAX_CONNECTIONS = 256;
    private static final int MAX_QUEUED = 10_000;
    private static final int MAX_HEADERS = 16_384;

    /** More is not read, only to be thrown away. */
    private static final int MAX_READ = 1 << 20;

    private final OutboundGuard guard;
    private final Supplier<SslContextFactory.Client> tls;
    private @Nullable HttpClient started;
    private boolean closed;

    public OutboundClient(OutboundGuard guard) {
        this(guard, SslContextFactory.Client::new);
    }

    OutboundClient(OutboundGuard guard, Supplier<SslContextFactory.Client> tls) {
        this.guard = guard;
        this.tls = tls;
    }

    /** Started by the first call: most processes make none, and it takes a while. */
    private synchronized HttpClient client() throws IOException {
        if (closed) {
            throw new IOException("This process is about to end");
        }
        HttpClient client = started;
        if (client == null) {
            client = start();
            started = client;
        }
        return client;
    }

    private HttpClient start() {
        QueuedThreadPool threads = new QueuedThreadPool(MAX_THREADS, 2);
        threads.setName("reprise-outbound");
        threads.setDaemon(true);
        HttpClient client = new HttpClient();
        client.setExecutor(threads);
        client.setSslContextFactory(tls.get());
        client.setSocketAddressResolver(new Guarded(guard, threads));
        client.setFollowRedirects(false);
        client.setHttpCookieStore(new HttpCookieStore.Empty());
        client.setUserAgentField(new HttpField(HttpHeader.USER_AGENT, "Reprise"));
        client.setConnectTimeout(CONNECT.toMillis());
        client.setIdleTimeout(IDLE.toMillis());
        client.setMaxConnectionsPerDestination(MAX_CONNECTIONS);
        client.setMaxRequestsQueuedPerDestination(MAX_QUEUED);
        client.setMaxResponseHeadersSize(MAX_HEADERS);
        try {
            client.start();
        } catch (Exception e) {
            throw new RepriseException("The client for outgoing calls does not start", e);
        }
        // Once started, because starting adds them: redirects, authentication and compression are not for us.
        client.getProtocolHandlers().clear();
        client.getContentDecoderFactories().clear();
        return client;
    }

    /** Resolves names on threads of the client: the system's resolver knows no limit in time. */
    private record Guarded(OutboundGuard guard, QueuedThreadPool threads) implements SocketAddressResolver {

        @Override
        public void resolve(
                String host, int port, Map<String, Object> context, Promise<List<InetSocketAddress>> promise) {
            threads.execute(() -> {
                try {
                    List<InetSocketAddress> addresses = new ArrayList<>();
                    for (InetAddress address : guard.resolve(host)) {
                        // With its name, by which certificates are checked; nothing is looked up for that.
                        InetAddress named = InetAddress.getByAddress(host, address.getAddress());
                        addresses.add(new InetSocketAddress(named, port));
                    }
                    promise.succeeded(addresses);
                } catch (Throwable e) { // Whoever waits must hear of it, whatever it is.
                    promise.failed(e);
                }
            });
        }
    }

    /**
     * Makes a call and waits for the answer, whatever its status.
     *
     * @throws RefusedTargetException if the guard refuses
     * @throws IOException if there was no answer
     * @throws InterruptedException if the thread is told to stop; the call is cut off
     */
    public OutboundAnswer send(OutboundCall call) throws IOException, InterruptedException {
        Request request = client().newRequest(call.uri())
                .method(call.method())
                .timeout(Math.max(1, call.limit().toMillis()), TimeUnit.MILLISECONDS)
                .headers(headers -> call.headers().forEach(headers::put));
        if (!call.body().isEmpty()) {
            request.body(new BytesRequestContent(call.body().getBytes(StandardCharsets.UTF_8)));
        }
        Collector collector = new Collector();
        request.send(collector);
        try {
            return collector.answer.get();
        } catch (InterruptedException e) {
            CompletableFuture<Boolean> unused = request.abort(e);
            throw e;
        } catch (ExecutionException e) {
            throw failure(call, e.getCause() == null ? e : e.getCause());
        }
    }

    private static IOException failure(OutboundCall call, Throwable cause) {
        for (Throwable link = cause; link != null; link = link.getCause()) {
            if (link instanceof RefusedTargetException refused) {
                throw refused;
            }
        }
        String why = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        return new IOException(call.method() + " to " + call.uri().getHost() + " was not answered: " + why, cause);
    }

    /** Keeps the beginning of an answer and lets the rest pass by. */
    private static final class Collector implements Response.Listener {
        private final CompletableFuture<OutboundAnswer> answer = new CompletableFuture<>();
        private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
        private long read;

        @Override
        public void onContent(Response response, ByteBuffer content) {
            read += content.remaining();
            byte[] bytes = new byte[Math.min(content.remaining(), OutboundAnswer.MAX_BODY - kept.size())];
            content.get(bytes);
            content.position(content.limit());
            kept.write(bytes, 0, bytes.length);
            if (read > MAX_READ) {
                complete(response);
                CompletableFuture<Boolean> unused = response.abort(new IOException("The answer is too long"));
            }
        }

        @Override
        public void onComplete(Result result) {
            if (result.isFailed()) {
                answer.completeExceptionally(result.getFailure());
            } else {
                complete(result.getResponse());
            }
        }

        private void complete(Response response) {
            Map<String, String> headers = new HashMap<>();
            response.getHeaders().forEach(field -> headers.putIfAbsent(field.getLowerCaseName(), field.getValue()));
            answer.complete(new OutboundAnswer(
                    response.getStatus(), headers, kept.toByteArray(), read > OutboundAnswer.MAX_BODY));
        }
    }

    @Override
    public void close() {
        HttpClient client;
        synchronized (this) {
            closed = true;
            client = started;
        }
        if (client == null) {
            return;
        }
        try {
            client.stop();
        } catch (Exception e) {
            throw new RepriseException("The client for outgoing calls does not stop", e);
        }
    }
}
