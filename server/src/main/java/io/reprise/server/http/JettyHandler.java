// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.eclipse.jetty.http.HttpException;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Fields.Field;
import org.eclipse.jetty.util.Promise;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Between Jetty and operations: lets in, reads, checks, performs, writes. Bodies are read without a thread that waits. */
final class JettyHandler extends Handler.Abstract {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");
    private static final byte[] NOTHING = {};

    /** Bytes of a body that are read though nobody wants them. */
    private static final int MAX_UNREAD = 64 << 10;

    private final Router router;
    private final Gate gate;
    private final HttpSettings.Limits limits;
    private final SlowHeaders slow;
    private final AtomicInteger active = new AtomicInteger();
    private final Set<JettyEventSink> streams = ConcurrentHashMap.newKeySet();

    JettyHandler(Router router, Gate gate, HttpSettings.Limits limits, SlowHeaders slow) {
        this.router = router;
        this.gate = gate;
        this.limits = limits;
        this.slow = slow;
    }

    /** One request on its way. */
    private record Exchange(
            org.eclipse.jetty.server.Request request, org.eclipse.jetty.server.Response response, Callback callback) {

        @Nullable
        String header(String name) {
            return request.getHeaders().get(name);
        }

        boolean hasBody() {
            return request.getLength() > 0 || (request.getLength() < 0 && header("Transfer-Encoding") != null);
        }

        /** The body, if it is not longer. */
        CompletableFuture<byte[]> read(int most) {
            CompletableFuture<byte[]> body = new CompletableFuture<>();
            Content.Source.asByteArrayAsync(request, most, Promise.Invocable.toPromise(body));
            return body;
        }
    }

    @Override
    public boolean handle(
            org.eclipse.jetty.server.Request request, org.eclipse.jetty.server.Response response, Callback callback) {
        Connection connection = request.getConnectionMetaData().getConnection();
        active.incrementAndGet();
        slow.begun(connection);
        Exchange exchange = new Exchange(
                request,
                response,
                Callback.from(
                        () -> {
                            active.decrementAndGet();
                            slow.ended(connection);
                        },
                        callback));
        try {
            Router.Match match =
                    router.find(request.getMethod(), request.getHttpURI().getPath());
            Caller caller = gate.admit(
                    exchange.header("Authorization"),
                    org.eclipse.jetty.server.Request.getRemoteAddr(request),
                    match.operation().scope());
            CompletableFuture<byte[]> body = body(exchange, match.operation());
            if (body.isDone()) {
                perform(exchange, match, caller, body);
            } else {
                CompletableFuture<byte[]> unused = body.orTimeout(
                                limits.request().toMillis(), TimeUnit.MILLISECONDS)
                        .whenCompleteAsync(
                                (bytes, failure) -> perform(exchange, match, caller, body),
                                getServer().getThreadPool());
            }
        } catch (RuntimeException e) {
            refuse(exchange, e);
        }
        return true;
    }

    /**
     * Answers a request whose body was not read. A short one is read first: if it came after the answer, Jetty would have to close
     * the connection, on which the client may have sent its next request. With a long one it is told that it must not.
     */
    private void refuse(Exchange exchange, RuntimeException reason) {
        int most = Math.min(limits.body(), MAX_UNREAD);
        if (!exchange.hasBody()) {
            fail(exchange, reason);
        } else if (exchange.request.getLength() > most) {
            failAndClose(exchange, reason);
        } else {
            CompletableFuture<byte[]> rest = exchange.read(most);
            CompletableFuture<byte[]> unused = rest.orTimeout(limits.request().toMillis(), TimeUnit.MILLISECONDS)
                    .whenComplete((bytes, failure) -> {
                        if (failure == null) {
                            fail(exchange, reason);
                        } else {
                            failAndClose(exchange, reason);
                        }
                    });
        }
    }

    private void failAndClose(Exchange exchange, RuntimeException reason) {
        exchange.response.getHeaders().put(HttpHeader.CONNECTION, "close");
        fail(exchange, reason);
    }

    private CompletableFuture<byte[]> body(Exchange exchange, Operation operation) {
        if (exchange.request.getLength() > limits.body()) {
            throw tooLarge();
        }
        if (!exchange.hasBody()) {
            return CompletableFuture.completedFuture(NOTHING);
        }
        String type = exchange.header("Content-Type");
        if (operation.body() != null
                && (type == null || !type.toLowerCase(Locale.ROOT).startsWith("application/json"))) {
            throw Problem.of(ProblemType.UNSUPPORTED_MEDIA_TYPE, "Content-Type must be application/json");
        }
        return exchange.read(limits.body());
    }

    private Problem tooLarge() {
        return Problem.of(ProblemType.TOO_LARGE, "A body may have at most " + limits.body() + " bytes")
                .header("Connection", "close");
    }

    private void perform(Exchange exchange, Router.Match match, Caller caller, CompletableFuture<byte[]> body) {
        try {
            Request request = Router.check(match, query(exchange), exchange::header, caller, read(body));
            Answer answer = match.operation().action().perform(request);
            if (answer instanceof Response response) {
                write(exchange, response);
            } else if (answer instanceof Answer.Later later) {
                // It is the server that keeps silent, and on purpose.
                exchange.request.addIdleTimeoutListener(timeout -> false);
                CompletableFuture<Response> unused = later.response().whenComplete((response, failure) -> {
                    if (failure == null) {
                        write(exchange, response);
                    } else {
                        fail(exchange, failure);
                    }
                });
            } else if (answer instanceof Answer.Stream stream) {
                stream(exchange, stream);
            }
        } catch (RuntimeException e) {
            fail(exchange, e);
        }
    }

    private byte[] read(CompletableFuture<byte[]> body) {
        try {
            return body.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof TimeoutException) {
                throw Problem.of(
                                ProblemType.INVALID_REQUEST,
                                "The body did not arrive within "
                                        + limits.request().toSeconds() + " s")
                        .header("Connection", "close");
            }
            // Jetty tells a body that is too long by this exception, and one that breaks off by others.
            if (e.getCause() instanceof IllegalStateException) {
                throw tooLarge();
            }
            throw Problem.of(ProblemType.INVALID_REQUEST, "The body broke off").header("Connection", "close");
        }
    }

    private static Map<String, String> query(Exchange exchange) {
        Map<String, String> values = new HashMap<>();
        try {
            for (Field field : org.eclipse.jetty.server.Request.extractQueryParameters(exchange.request)) {
                if (field.getValues().size() > 1) {
                    throw Problem.invalid(field.getName(), "must be given only once");
                }
                values.put(field.getName(), field.getValue());
            }
        } catch (IllegalArgumentException | HttpException.IllegalStateException e) {
            throw Problem.of(ProblemType.INVALID_REQUEST, "The query cannot be read: it is not UTF-8 in %-encoding");
        }
        return values;
    }

    private void fail(Exchange exchange, Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        Problem problem = Failures.problem(cause);
        String instance = Problem.newInstance();
        if (problem.type().status() >= 500) {
            log.error(
                    "{} {} failed: {}",
                    exchange.request.getMethod(),
                    exchange.request.getHttpURI().getPath(),
                    instance,
                    cause);
        }
        write(exchange, problem.response(instance));
    }

    private void write(Exchange exchange, Response answer) {
        if (exchange.response.isCommitted()) {
            exchange.callback.succeeded();
            return;
        }
        exchange.response.setStatus(answer.status());
        put(exchange.response, answer);
        byte[] body = answer.body();
        exchange.response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
        boolean head = exchange.request.getMethod().equals("HEAD");
        exchange.response.write(true, ByteBuffer.wrap(head ? NOTHING : body), exchange.callback);
    }

    private static void put(org.eclipse.jetty.server.Response response, Response answer) {
        if (answer.contentType() != null) {
            response.getHeaders().put(HttpHeader.CONTENT_TYPE, answer.contentType());
        }
        response.getHeaders().put("X-Content-Type-Options", "nosniff");
        if (!answer.headers().containsKey("Cache-Control")) {
            response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
        }
        answer.headers().forEach((name, value) -> response.getHeaders().put(name, value));
    }

    private void stream(Exchange exchange, Answer.Stream stream) {
        exchange.response.setStatus(200);
        exchange.response.getHeaders().put(HttpHeader.CONTENT_TYPE, "text/event-stream");
        exchange.response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
        exchange.response.getHeaders().put("X-Accel-Buffering", "no");
        JettyEventSink sink = new JettyEventSink(exchange.request, exchange.response, exchange.callback);
        streams.add(sink);
        sink.onEnd(() -> streams.remove(sink));
        stream.start().accept(sink);
    }

    void endStreams() {
        streams.forEach(JettyEventSink::close);
    }

    /** Returns when no request is under way, or when the time is up. */
    void awaitIdle(long millis) {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (active.get() > 0 && System.nanoTime() - until < 0) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    /** What Jetty itself refuses, before it gets here. */
    static boolean error(
            org.eclipse.jetty.server.Request request, org.eclipse.jetty.server.Response response, Callback callback) {
        int status = response.getStatus();
        ProblemType type = switch (status) {
            case 414, 431, 413 -> new ProblemType("too-large", status, ProblemType.TOO_LARGE.title());
            default ->
                status >= 500
                        ? new ProblemType("internal", status, ProblemType.INTERNAL.title())
                        : new ProblemType("invalid-request", status, ProblemType.INVALID_REQUEST.title());
        };
        Response answer =
                Problem.of(type, "The server does not take this as HTTP").response(Problem.newInstance());
        put(response, answer);
        // Whatever follows on this connection cannot be trusted to be a request.
        response.getHeaders().put(HttpHeader.CONNECTION, "close");
        response.write(true, ByteBuffer.wrap(answer.body()), callback);
        return true;
    }
}
