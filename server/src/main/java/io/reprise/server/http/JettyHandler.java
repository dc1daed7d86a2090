// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import io.reprise.server.net.HttpSettings;
import io.reprise.server.net.Origins;
import io.reprise.server.net.PeekableEndPoint;
import io.reprise.server.net.SlowHeaders;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.eclipse.jetty.http.HttpException;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Fields.Field;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Connects Jetty and operations: admits, reads, checks, performs, writes. Bodies are read without a waiting thread. */
final class JettyHandler extends Handler.Abstract {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");
    private static final byte[] NOTHING = {};

    /** Attribute of a request: the operation that it found. */
    private static final String OPERATION = "io.reprise.operation";

    /** Bytes of an answer that the operating system buffers at once. */
    private static final int SMALL = 64 << 10;

    /** About as long as an answer can be. */
    private static final int LARGE = 10 << 20;

    private final Router router;
    private final Gate gate;
    private final HttpSettings.Limits limits;
    private final SlowHeaders slow;
    private final Executor workers;
    private final WorkShares shares;
    private final Origins origins;
    private final boolean certified;
    private final Scheduler scheduler;
    private final BytesInFlight inFlight;

    /** Large answers that one owner lets the server make at once. */
    private final WorkShares large;

    private final AtomicInteger active = new AtomicInteger();
    /** Open streams, with a check whether their clients would still be admitted. */
    private final Map<JettyEventSink, BooleanSupplier> streams = new ConcurrentHashMap<>();

    JettyHandler(
            Router router, Gate gate, HttpSettings settings, SlowHeaders slow, Scheduler scheduler, Executor workers) {
        this.workers = workers;
        // Two that take what they can leave a quarter to others.
        this.shares = new WorkShares(workers, Math.max(1, settings.limits().threads() * 3 / 8));
        HttpSettings.Limits limits = settings.limits();
        this.origins = new Origins(settings.proxies().trusted());
        this.scheduler = scheduler;
        this.certified = settings.tls() != null && settings.tls().clientCa() != null;
        this.inFlight = new BytesInFlight(limits.inFlight());
        this.large = new WorkShares(workers, (int) Math.max(1, limits.inFlight() * 3 / 8 / LARGE));
        this.router = router;
        this.gate = gate;
        this.limits = limits;
        this.slow = slow;
    }

    /** One request under way, with its counted bytes. */
    private record Exchange(
            org.eclipse.jetty.server.Request request,
            org.eclipse.jetty.server.Response response,
            Callback callback,
            Counted counted) {

        @Nullable
        String header(String name) {
            return request.getHeaders().get(name);
        }

        /** Returns the header Authorization, or the session of a browser that logged in; null if there is neither. */
        @Nullable
        String credentials() {
            return Cookies.credentials(
                    header("Authorization"),
                    request.getHeaders().getValuesList(HttpHeader.COOKIE),
                    request.getMethod(),
                    "same-origin".equals(header("Sec-Fetch-Site")) || header("X-Reprise") != null);
        }

        @Nullable
        Operation operation() {
            return (Operation) request.getAttribute(OPERATION);
        }

        boolean hasBody() {
            return request.getLength() > 0 || (request.getLength() < 0 && header("Transfer-Encoding") != null);
        }
    }

    /** The sender of a request, and the counted bytes of the request and its answer. */
    private final class Counted {
        private String caller = "";
        private long bytes;

        synchronized void take(String who, long more) {
            inFlight.take(who, more);
            caller = who;
            bytes += more;
        }

        /** Takes bytes of the sender, who is known by now. */
        synchronized void take(long more) {
            take(caller, more);
        }

        synchronized void add(long more) {
            inFlight.add(caller, more);
            bytes += more;
        }

        synchronized void by(String who) {
            caller = who;
        }

        synchronized void release(long less) {
            inFlight.release(caller, less);
            bytes -= less;
        }

        synchronized void release() {
            inFlight.release(caller, bytes);
            bytes = 0;
        }
    }

    @Override
    public boolean handle(
            org.eclipse.jetty.server.Request request, org.eclipse.jetty.server.Response response, Callback callback) {
        Connection connection = request.getConnectionMetaData().getConnection();
        active.incrementAndGet();
        slow.begun(connection);
        Counted counted = new Counted();
        Exchange exchange = new Exchange(
                request,
                response,
                Callback.from(
                        () -> {
                            active.decrementAndGet();
                            counted.release();
                            slow.ended(connection);
                        },
                        callback),
                counted);
        try {
            String origin = origins.of(
                    org.eclipse.jetty.server.Request.getRemoteAddr(request),
                    request.getHeaders().getValuesList("Forwarded"),
                    request.getHeaders().getValuesList("X-Forwarded-For"));
            Router.Match match = find(request, origin);
            request.setAttribute(OPERATION, match.operation());
            requireCertificate(request, match.operation());
            if (match.operation().scope() == null) {
                // Operations without a scope answer at once. They must not wait for worker threads
                // that other requests occupy.
                begin(exchange, match, origin);
            } else {
                workers.execute(() -> begin(exchange, match, origin));
            }
        } catch (RuntimeException e) {
            refuse(exchange, e);
        }
        return true;
    }

    private void requireCertificate(org.eclipse.jetty.server.Request request, Operation operation) {
        if (!certified || operation.scope() == null) {
            return;
        }
        Object session = request.getAttribute(EndPoint.SslSessionData.ATTRIBUTE);
        if (!(session instanceof EndPoint.SslSessionData tls)
                || tls.peerCertificates() == null
                || tls.peerCertificates().length == 0) {
            throw Problem.of(ProblemType.FORBIDDEN, "A client certificate is needed beside the key");
        }
    }

    private void begin(Exchange exchange, Router.Match match, String origin) {
        try {
            Caller caller =
                    gate.admit(exchange.credentials(), origin, match.operation().scope());
            gate.limits(caller).forEach(exchange.response.getHeaders()::put);
            exchange.counted.by(caller.owner());
            if (match.operation().scope() != null) {
                inFlight.requireRoom(caller.owner());
            }
            CompletableFuture<byte[]> body = body(exchange, match.operation());
            if (body.isDone()) {
                perform(exchange, match, caller, body);
            } else {
                CompletableFuture<byte[]> unused = body.orTimeout(
                                limits.request().toMillis(), TimeUnit.MILLISECONDS)
                        .whenCompleteAsync((bytes, failure) -> perform(exchange, match, caller, body), workers);
            }
        } catch (RuntimeException e) {
            refuse(exchange, e);
        }
    }

    /** Finds the operation. Requests for unknown paths count towards the rate too. */
    private Router.Match find(org.eclipse.jetty.server.Request request, String origin) {
        try {
            return router.find(request.getMethod(), request.getHttpURI().getPath());
        } catch (Problem e) {
            gate.admit(null, origin, null);
            throw e;
        }
    }

    /**
     * Answers a request whose body was not read. It reads and drops the body first: a client that is still sending
     * would not see the answer, and Jetty would have to close the connection. With a body above the limit of all
     * operations, and with one that the client has not begun to send, it answers at once and closes the connection.
     */
    private void refuse(Exchange exchange, RuntimeException reason) {
        if (!exchange.hasBody()) {
            fail(exchange, reason);
        } else if (exchange.request.getLength() > limits.body() || exchange.header("Expect") != null) {
            failAndClose(exchange, reason);
        } else {
            CompletableFuture<byte[]> rest = RequestBody.read(exchange.request, 0, limits.body());
            CompletableFuture<byte[]> unused = rest.orTimeout(limits.request().toMillis(), TimeUnit.MILLISECONDS)
                    .whenComplete((bytes, failure) -> {
                        if (failure == null || (failure instanceof RequestBody.TooLong tooLong && tooLong.read)) {
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

    /**
     * Sends nothing more, and ends the exchange when the client has sent the rest of its body, or has had its time. If
     * the connection were closed while the client sends, its system could drop the answer before the client reads it.
     */
    private Callback afterRest(Exchange exchange, Callback ended) {
        boolean closes = exchange.response.getHeaders().contains(HttpHeader.CONNECTION, "close");
        if (!closes || !exchange.hasBody() || exchange.header("Expect") != null) {
            return ended;
        }
        return Callback.from(
                () -> {
                    endPoint(exchange).shutdownOutput();
                    CompletableFuture<byte[]> unused = RequestBody.read(exchange.request, 0, Long.MAX_VALUE)
                            .orTimeout(limits.request().toMillis(), TimeUnit.MILLISECONDS)
                            .whenComplete((bytes, failure) -> ended.succeeded());
                },
                ended::failed);
    }

    private CompletableFuture<byte[]> body(Exchange exchange, Operation operation) {
        int most = most(operation);
        long length = exchange.request.getLength();
        if (length > most) {
            throw tooLarge(operation);
        }
        if (!exchange.hasBody()) {
            return CompletableFuture.completedFuture(NOTHING);
        }
        String type = exchange.header("Content-Type");
        if (operation.body() != null
                && (type == null || !type.toLowerCase(Locale.ROOT).startsWith("application/json"))) {
            throw Problem.of(ProblemType.UNSUPPORTED_MEDIA_TYPE, "Content-Type must be application/json");
        }
        exchange.counted.take(length < 0 ? most : length);
        return RequestBody.read(exchange.request, most, limits.body());
    }

    private int most(Operation operation) {
        return Math.min(limits.body(), operation.maxBody());
    }

    private Problem tooLarge(Operation operation) {
        return Problem.of(ProblemType.TOO_LARGE, "A body may have at most " + most(operation) + " bytes here");
    }

    /** All keys of a tenant share its part of the threads; a key without a tenant has a part of its own. */
    private void perform(Exchange exchange, Router.Match match, Caller caller, CompletableFuture<byte[]> body) {
        if (match.operation().scope() == null) {
            performNow(exchange, match, caller, body);
        } else {
            shares.run(caller.owner(), () -> performNow(exchange, match, caller, body));
        }
    }

    private void performNow(Exchange exchange, Router.Match match, Caller caller, CompletableFuture<byte[]> body) {
        try {
            Request request = Router.check(
                            match, query(exchange), exchange::header, caller, read(body, match.operation()))
                    .from(() -> PeekableEndPoint.isGone(exchange.request));
            if (match.operation().showsPayloads(request)) {
                // Before the operation: no payload is read without an audit entry.
                gate.read(
                        caller,
                        exchange.request.getMethod() + " "
                                + exchange.request.getHttpURI().getPathQuery());
            }
            if (match.operation().isLarge(request)) {
                large.run(caller.owner(), () -> answer(exchange, match, caller, request));
            } else {
                answer(exchange, match, caller, request);
            }
        } catch (RuntimeException e) {
            refuse(exchange, match, caller, e);
        }
    }

    private void answer(Exchange exchange, Router.Match match, Caller caller, Request request) {
        try {
            Answer answer = match.operation().action().perform(request);
            if (answer instanceof Response response) {
                write(exchange, response);
            } else if (answer instanceof Answer.Later later) {
                // The server is silent on purpose here.
                exchange.request.addIdleTimeoutListener(timeout -> false);
                CompletableFuture<Response> unused = later.response().whenComplete((response, failure) -> {
                    if (failure == null) {
                        write(exchange, response);
                    } else {
                        fail(exchange, failure, caller);
                    }
                });
            } else if (exchange.request.getMethod().equals("HEAD")) {
                String type = "text/event-stream";
                if (answer instanceof Answer.Parts parts) {
                    type = parts.contentType();
                    parts.ended().run();
                } else if (answer instanceof Answer.Stream stream) {
                    stream.unused().run();
                }
                write(exchange, Response.text(type, ""));
            } else if (answer instanceof Answer.Parts parts) {
                writeParts(exchange, parts);
            } else if (answer instanceof Answer.Stream stream) {
                stream(exchange, stream, match.operation().scope());
            }
        } catch (RuntimeException e) {
            refuse(exchange, match, caller, e);
        }
    }

    private void refuse(Exchange exchange, Router.Match match, Caller caller, RuntimeException reason) {
        if (reason instanceof Problem problem && problem.type().status() == ProblemType.FORBIDDEN.status()) {
            gate.refused(caller, match.operation().id(), String.valueOf(reason.getMessage()));
        }
        fail(exchange, reason, caller);
    }

    private byte[] read(CompletableFuture<byte[]> body, Operation operation) {
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
            if (e.getCause() instanceof RequestBody.TooLong tooLong) {
                throw tooLong.read ? tooLarge(operation) : tooLarge(operation).header("Connection", "close");
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
        fail(exchange, failure, null);
    }

    private void fail(Exchange exchange, Throwable failure, @Nullable Caller caller) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        Problem problem = Failures.problem(cause, caller);
        String instance = Problem.newInstance();
        if (cause == problem && problem.type().status() >= 500) {
            // Said on purpose: a trace for each would fill the log.
            log.warn(
                    "{} {} was refused: {} ({})",
                    exchange.request.getMethod(),
                    exchange.request.getHttpURI().getPath(),
                    problem.getMessage(),
                    instance);
        } else if (problem.type().status() >= 500) {
            log.error(
                    "{} {} failed: {}",
                    exchange.request.getMethod(),
                    exchange.request.getHttpURI().getPath(),
                    instance,
                    cause);
        }
        write(exchange, problem.response(instance));
    }

    private void write(Exchange exchange, Response given) {
        if (exchange.response.isCommitted()) {
            exchange.callback.succeeded();
            return;
        }
        Response answer = ReplyCheck.checked(exchange.operation(), counted(exchange, given));
        exchange.response.setStatus(answer.status());
        put(exchange.response, answer);
        byte[] body = answer.body();
        exchange.response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
        boolean head = exchange.request.getMethod().equals("HEAD");
        ByteBuffer bytes = ByteBuffer.wrap(head ? NOTHING : body);
        Callback written = told(afterRest(exchange, exchange.callback), answer.ifUnsent());
        if (bytes.remaining() <= SMALL) {
            exchange.response.write(true, bytes, written);
        } else {
            Scheduler.Task cut = cutOff(exchange, body.length);
            exchange.response.write(true, bytes, Callback.from(() -> cut.cancel(), written));
        }
    }

    /**
     * Counts an answer until it is read. A long one for which there is no room is not sent, if that loses nothing: the
     * request changed nothing, or what it changed can be undone. Else a client that reads none of many answers fills the
     * memory.
     */
    private Response counted(Exchange exchange, Response answer) {
        int bytes = answer.body().length;
        String method = exchange.request.getMethod();
        boolean isLost = answer.ifUnsent() == null && !method.equals("GET") && !method.equals("HEAD");
        if (bytes <= SMALL || isLost) {
            exchange.counted.add(bytes);
            return answer;
        }
        try {
            exchange.counted.take(bytes);
            return answer;
        } catch (Problem e) {
            Runnable undo = answer.ifUnsent();
            if (undo != null) {
                workers.execute(undo);
            }
            return e.response(Problem.newInstance());
        }
    }

    /**
     * Runs {@code ifUnsent} if the answer does not reach the client. It may call the store, so a worker thread does it.
     */
    private Callback told(Callback callback, @Nullable Runnable ifUnsent) {
        return ifUnsent == null
                ? callback
                : Callback.from(callback::succeeded, failure -> {
                    workers.execute(ifUnsent);
                    callback.failed(failure);
                });
    }

    /**
     * Cuts off a client that reads an answer too slowly and so keeps it in memory. A silent client has its own limit.
     */
    private Scheduler.Task cutOff(Exchange exchange, long bytes) {
        EndPoint end = endPoint(exchange);
        return scheduler.schedule(
                () -> end.close(new TimeoutException("The answer was not read in time")),
                limits.request().toMillis() + bytes * 1_000 / limits.answerRate(),
                TimeUnit.MILLISECONDS);
    }

    private static EndPoint endPoint(Exchange exchange) {
        return exchange.request.getConnectionMetaData().getConnection().getEndPoint();
    }

    private void writeParts(Exchange exchange, Answer.Parts parts) {
        String first;
        try {
            first = parts.next().get();
        } catch (RuntimeException e) {
            parts.ended().run();
            throw e;
        }
        exchange.response.setStatus(200);
        put(exchange.response, Response.text(parts.contentType(), ""));
        Callback ended = Callback.from(parts.ended(), exchange.callback);
        writePart(new Exchange(exchange.request, exchange.response, ended, exchange.counted), parts, first);
    }

    private void writePart(Exchange exchange, Answer.Parts parts, @Nullable String part) {
        byte[] bytes = part == null ? NOTHING : part.getBytes(StandardCharsets.UTF_8);
        ReplyCheck.lines(exchange.operation(), part == null ? "" : part);
        Scheduler.Task cut = cutOff(exchange, bytes.length);
        exchange.counted.add(bytes.length);
        Callback written = Callback.from(
                () -> {
                    exchange.counted.release(bytes.length);
                    workers.execute(() -> nextPart(exchange, parts));
                },
                exchange.callback::failed);
        exchange.response.write(
                part == null,
                ByteBuffer.wrap(bytes),
                Callback.from(() -> cut.cancel(), part == null ? exchange.callback : written));
    }

    private void nextPart(Exchange exchange, Answer.Parts parts) {
        try {
            writePart(exchange, parts, parts.next().get());
        } catch (RuntimeException e) {
            log.warn("An answer broke off: {}", e.getMessage());
            exchange.callback.failed(e);
        }
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

    private void stream(Exchange exchange, Answer.Stream stream, @Nullable Scope scope) {
        JettyEventSink sink;
        EventSink checked;
        try {
            exchange.response.setStatus(200);
            exchange.response.getHeaders().put(HttpHeader.CONTENT_TYPE, "text/event-stream");
            exchange.response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
            exchange.response.getHeaders().put("X-Accel-Buffering", "no");
            sink = new JettyEventSink(exchange.request, exchange.response, exchange.callback);
            checked = ReplyCheck.checked(exchange.operation(), sink);
        } catch (RuntimeException e) {
            stream.unused().run();
            throw e;
        }
        String credentials = exchange.credentials();
        streams.put(sink, () -> gate.stillAdmits(credentials, scope));
        sink.onEnd(() -> streams.remove(sink));
        try {
            stream.start().accept(checked);
        } catch (RuntimeException e) {
            log.warn("A stream could not begin: {}", e.getMessage());
            sink.close();
        }
    }

    void endStreams() {
        streams.keySet().forEach(JettyEventSink::close);
    }

    /** Ends the streams of keys that were revoked or rotated. If the store does not answer, it ends none. */
    void endRevoked() {
        streams.forEach((sink, admitted) -> {
            try {
                if (!admitted.getAsBoolean()) {
                    sink.close();
                }
            } catch (RuntimeException e) {
                log.debug("Whether the key of a stream is still there could not be told: {}", e.getMessage());
            }
        });
    }

    /** Returns when no request is under way, or when the time is up. */
    void awaitIdle(long millis) {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (active.get() > 0 && System.nanoTime() - until < 0) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    /** Answers requests that Jetty refuses before they get here. */
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
        Response answer = ReplyCheck.checked(
                null, Problem.of(type, "The server does not take this as HTTP").response(Problem.newInstance()));
        put(response, answer);
        // Bytes that follow on this connection may not be a request.
        response.getHeaders().put(HttpHeader.CONNECTION, "close");
        response.write(true, ByteBuffer.wrap(answer.body()), callback);
        return true;
    }
}
