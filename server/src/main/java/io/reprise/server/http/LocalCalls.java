// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/**
 * Performs operations in this process, without a socket of our own, with the checks that requests over one get. The
 * calling thread waits for the answer. Thread-safe.
 */
public final class LocalCalls {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");
    private static final byte[] NOTHING = {};
    private static final Set<String> READ_METHODS = Set.of("GET", "HEAD");
    private static final int MAX_BODY = 1 << 20;

    private final Router router;

    public LocalCalls(List<Operation> operations) {
        this.router = new Router(operations);
    }

    /**
     * A request that the web server of an application took. The application knows who calls.
     *
     * @param path encoded as in the URL, without the path below which the operations are mounted
     * @param query encoded as in the URL; null without one
     * @param header returns a header of the request; null if there is none
     */
    public record Call(
            Caller caller,
            String method,
            String path,
            @Nullable String query,
            Function<String, @Nullable String> header,
            InputStream body) {

        private boolean isFromOwnPage() {
            return "same-origin".equals(header.apply("Sec-Fetch-Site")) || header.apply("X-Reprise") != null;
        }
    }

    /** Receives an answer for the web server of an application. */
    public interface Reply {

        /** Receives the status and the headers. */
        void begin(int status, Map<String, String> headers);

        /** Returns the stream that takes the body. */
        OutputStream body() throws IOException;
    }

    /**
     * Performs one operation.
     *
     * @param target path and query, encoded as in a URL
     * @return the answer; null if there is none
     * @throws Problem if the operation is refused
     * @throws io.reprise.job.RepriseException if the store fails
     */
    public @Nullable JsonNode call(Caller caller, String method, String target, @Nullable JsonNode body) {
        int mark = target.indexOf('?');
        Router.Match match = router.find(method, mark < 0 ? target : target.substring(0, mark));
        Map<String, String> query = query(mark < 0 ? null : target.substring(mark + 1));
        Request request = Router.check(match, query, header -> null, caller, body == null ? NOTHING : Json.bytes(body));
        try {
            if (perform(match.operation(), request) instanceof Response response) {
                return response.body().length == 0
                        ? null
                        : Json.parse(new String(response.body(), StandardCharsets.UTF_8));
            }
        } catch (RuntimeException e) {
            throw told(e, caller);
        }
        throw new IllegalArgumentException(match.operation().id() + " streams, and nobody listens");
    }

    /**
     * Answers a request. An error becomes an answer too.
     *
     * @throws IOException if the request cannot be read, or the answer not be written
     */
    public void answer(Call call, Reply reply) throws IOException {
        Answer answer;
        try {
            answer = admitted(call);
        } catch (RuntimeException e) {
            answer = refusal(call, e);
        }
        if (answer instanceof Answer.Parts parts) {
            reply.begin(200, Map.of("Content-Type", parts.contentType(), "Cache-Control", "no-store"));
            for (String part = parts.next().get();
                    part != null;
                    part = parts.next().get()) {
                reply.body().write(part.getBytes(StandardCharsets.UTF_8));
                reply.body().flush();
            }
        } else if (answer instanceof Response response) {
            write(call, response, reply);
        }
    }

    private static void write(Call call, Response response, Reply reply) throws IOException {
        Map<String, String> headers = new HashMap<>();
        headers.put("Cache-Control", "no-store");
        headers.put("X-Content-Type-Options", "nosniff");
        if (response.contentType() != null) {
            headers.put("Content-Type", response.contentType());
        }
        headers.putAll(response.headers());
        reply.begin(response.status(), headers);
        if (!call.method.equals("HEAD") && response.body().length > 0) {
            reply.body().write(response.body());
        }
    }

    private Answer admitted(Call call) throws IOException {
        Router.Match match = router.find(call.method, call.path);
        Scope needed = match.operation().scope();
        if (needed != null && !call.caller.may(needed)) {
            throw Problem.of(ProblemType.FORBIDDEN, "This needs scope " + needed.text() + ", which you do not have");
        }
        if (!READ_METHODS.contains(call.method) && !call.isFromOwnPage()) {
            throw Problem.of(ProblemType.FORBIDDEN, "A change must come from the page itself: send X-Reprise: 1");
        }
        byte[] body = body(call, match.operation());
        return perform(match.operation(), Router.check(match, query(call.query), call.header, call.caller, body));
    }

    private static byte[] body(Call call, Operation operation) throws IOException {
        int most = Math.min(MAX_BODY, operation.maxBody());
        byte[] body = call.body.readNBytes(most + 1);
        if (body.length > most) {
            throw Problem.of(ProblemType.TOO_LARGE, "A body may have at most " + most + " bytes here");
        }
        String type = call.header.apply("Content-Type");
        if (body.length > 0
                && operation.body() != null
                && (type == null || !type.toLowerCase(Locale.ROOT).startsWith("application/json"))) {
            throw Problem.of(ProblemType.UNSUPPORTED_MEDIA_TYPE, "Content-Type must be application/json");
        }
        return body;
    }

    private static Response refusal(Call call, RuntimeException failure) {
        Problem problem = Failures.problem(failure, call.caller);
        String instance = Problem.newInstance();
        if (problem.type().status() >= 500) {
            log.error("{} {} failed: {}", call.method, call.path, instance, failure);
        }
        return ReplyCheck.checked(null, problem.response(instance));
    }

    /** Waits for an answer that follows later. */
    private static Answer perform(Operation operation, Request request) {
        try {
            Answer answer = operation.action().perform(request);
            if (answer instanceof Answer.Later later) {
                answer = later.response().join();
            }
            return answer instanceof Response response ? ReplyCheck.checked(operation, response) : answer;
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    /**
     * Returns a problem for an error of the caller, as over a socket. An internal error is returned as it is, because
     * the caller is this process.
     */
    private static RuntimeException told(RuntimeException failure, Caller caller) {
        Problem problem = Failures.problem(failure, caller);
        return problem.type().status() < 500 ? problem : failure;
    }

    private static Map<String, String> query(@Nullable String text) {
        Map<String, String> values = new HashMap<>();
        if (text == null || text.isEmpty()) {
            return values;
        }
        for (String pair : text.split("&", -1)) {
            int equals = pair.indexOf('=');
            String name = decode(equals < 0 ? pair : pair.substring(0, equals));
            if (values.put(name, equals < 0 ? "" : decode(pair.substring(equals + 1))) != null) {
                throw Problem.invalid(name, "must be given only once");
            }
        }
        return values;
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw Problem.of(ProblemType.INVALID_REQUEST, "The query cannot be read: it is not UTF-8 in %-encoding");
        }
    }
}
