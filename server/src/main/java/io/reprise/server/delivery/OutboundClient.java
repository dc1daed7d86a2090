// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.reprise.job.RepriseException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
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
 * Makes outgoing calls, unless its guard refuses them. For each new connection the guard resolves the host, and
 * the connection goes only to the addresses that the guard has just checked. So a name that changes its address
 * gains nothing. Certificates are checked against the name. It follows no redirects, keeps no cookies and
 * decompresses nothing. Thread-safe.
 */
public final class OutboundClient implements AutoCloseable {

    private static final Duration CONNECT = Duration.ofSeconds(10);
    private static final Duration IDLE = Duration.ofSeconds(20);
    private static final int MAX_THREADS = 32;
    private static final int MAX_CONNECTIONS = 256;
    private static final int MAX_QUEUED = 10_000;
    private static final int MAX_HEADERS = 16_384;

    /** Bytes of an answer that are read. The rest would be thrown away. */
    private static final int MAX_READ = 1 << 20;

    private final Names names;
    private final Guarded resolver;
    private final Supplier<SslContextFactory.Client> tls;
    private final CallSpans spans = new CallSpans(GlobalOpenTelemetry.get());
    private @Nullable HttpClient started;
    private boolean closed;

    public OutboundClient(OutboundGuard guard) {
        this(guard, SslContextFactory.Client::new);
    }

    OutboundClient(OutboundGuard guard, Supplier<SslContextFactory.Client> tls) {
        this.names = new Names(guard);
        this.resolver = new Guarded(names);
        this.tls = tls;
    }

    /** The first call starts the client: most processes make no call, and a start takes a while. */
    private synchronized HttpClient client() {
        if (closed) {
            throw new RejectedExecutionException("This process is about to end");
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
        client.setSocketAddressResolver(resolver);
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
        // After the start, because starting adds them: redirects, authentication and compression are not wanted.
        client.getProtocolHandlers().clear();
        client.getContentDecoderFactories().clear();
        return client;
    }

    /** Resolves names to addresses that the guard has just checked. It looks up any other name. */
    private static final class Guarded implements SocketAddressResolver {

        private static final int MAX_KNOWN = 1_000;
        private static final long KNOWN_NANOS = TimeUnit.SECONDS.toNanos(10);

        private record Known(List<InetAddress> addresses, long atNanos) {}

        private final Names names;
        private final Map<String, Known> known = new ConcurrentHashMap<>();

        Guarded(Names names) {
            this.names = names;
        }

        void judged(String host, List<InetAddress> addresses) {
            if (known.size() >= MAX_KNOWN) {
                known.clear();
            }
            known.put(host, new Known(addresses, System.nanoTime()));
        }

        @Override
        public void resolve(
                String host, int port, Map<String, Object> context, Promise<List<InetSocketAddress>> promise) {
            Known judged = known.get(host);
            CompletableFuture<List<InetAddress>> found =
                    judged != null && System.nanoTime() - judged.atNanos < KNOWN_NANOS
                            ? CompletableFuture.completedFuture(judged.addresses)
                            : names.lookUp(host, "");
            CompletableFuture<?> unused = found.thenApply(addresses -> sockets(host, port, addresses))
                    .whenComplete((sockets, failure) -> {
                        if (failure == null) {
                            promise.succeeded(sockets);
                        } else {
                            promise.failed(failure);
                        }
                    });
        }

        private static List<InetSocketAddress> sockets(String host, int port, List<InetAddress> addresses) {
            List<InetSocketAddress> sockets = new ArrayList<>();
            for (InetAddress address : addresses) {
                try {
                    // With its name, which certificates are checked against. This looks nothing up.
                    InetAddress named = InetAddress.getByAddress(host, address.getAddress());
                    sockets.add(new InetSocketAddress(named, port));
                } catch (UnknownHostException e) {
                    throw new IllegalStateException("an address has four or sixteen bytes", e);
                }
            }
            return sockets;
        }
    }

    /**
     * Makes a call without a waiting thread.
     *
     * @param stop cuts the call off when it completes
     * @return the answer, whatever its status; fails with a {@link RefusedTargetException} if the guard refuses, and
     *     with an {@link IOException} if there was no answer
     */
    public CompletableFuture<OutboundAnswer> send(OutboundCall call, CompletableFuture<?> stop) {
        return spans.around(call, traced -> start(traced, stop));
    }

    private CompletableFuture<OutboundAnswer> start(OutboundCall call, CompletableFuture<?> stop) {
        long begun = System.nanoTime();
        String host = call.uri().getHost();
        CompletableFuture<OutboundAnswer> answer = new CompletableFuture<>();
        CompletableFuture<?> unusedStop = stop.whenComplete(
                (nothing, failure) -> answer.completeExceptionally(failure(call, new IOException("it was cut off"))));
        CompletableFuture<?> unusedCall = names.lookUp(host, call.tenant(), call.limit())
                .thenAccept(addresses -> {
                    resolver.judged(host, addresses);
                    request(call, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun), answer);
                })
                .whenComplete((nothing, failure) -> {
                    if (failure != null) {
                        answer.completeExceptionally(failure(call, failure));
                    }
                });
        return answer;
    }

    private void request(OutboundCall call, long spentMillis, CompletableFuture<OutboundAnswer> answer) {
        if (answer.isDone()) {
            return;
        }
        Request request = client().newRequest(call.uri())
                .method(call.method())
                .timeout(Math.max(1, call.limit().toMillis() - spentMillis), TimeUnit.MILLISECONDS)
                .headers(headers -> call.headers().forEach(headers::put));
        if (!call.body().isEmpty()) {
            request.body(new BytesRequestContent(call.body().getBytes(StandardCharsets.UTF_8)));
        }
        // However the answer ends, the request must not go on.
        CompletableFuture<?> unused = answer.whenComplete((found, failure) -> {
            if (failure != null) {
                CompletableFuture<Boolean> unusedAbort = request.abort(failure);
            }
        });
        request.send(new Collector(call, answer));
    }

    private static Exception failure(OutboundCall call, Throwable failure) {
        for (Throwable link = failure; link != null; link = link.getCause()) {
            if (link instanceof RefusedTargetException refused) {
                return refused;
            }
        }
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        String why = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        return new IOException(call.method() + " to " + call.uri().getHost() + " was not answered: " + why, cause);
    }

    /** Keeps the beginning of an answer and drops the rest. */
    private static final class Collector implements Response.Listener {
        private final OutboundCall call;
        private final CompletableFuture<OutboundAnswer> answer;
        private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
        private long read;

        Collector(OutboundCall call, CompletableFuture<OutboundAnswer> answer) {
            this.call = call;
            this.answer = answer;
        }

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
                answer.completeExceptionally(failure(call, result.getFailure()));
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
        names.close();
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
