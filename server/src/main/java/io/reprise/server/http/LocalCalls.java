// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Performs operations in this process, without a socket, with the checks that requests over a socket get. Thread-safe.
 */
public final class LocalCalls {

    private static final byte[] NOTHING = {};

    private final Router router;

    public LocalCalls(List<Operation> operations) {
        this.router = new Router(operations);
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
        Map<String, String> query = mark < 0 ? Map.of() : query(target.substring(mark + 1));
        Request request = Router.check(match, query, header -> null, caller, body == null ? NOTHING : Json.bytes(body));
        Response response = ReplyCheck.checked(match.operation(), perform(match.operation(), request));
        return response.body().length == 0 ? null : Json.parse(new String(response.body(), StandardCharsets.UTF_8));
    }

    private static Response perform(Operation operation, Request request) {
        try {
            Answer answer = operation.action().perform(request);
            if (answer instanceof Answer.Later later) {
                return later.response().join();
            }
            if (answer instanceof Response response) {
                return response;
            }
            throw new IllegalArgumentException(operation.id() + " streams, and nobody listens");
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? told(cause) : e;
        } catch (RuntimeException e) {
            throw told(e);
        }
    }

    /**
     * Returns a problem for an error of the caller, as over a socket. An internal error is returned as it is, because
     * the caller is this process.
     */
    private static RuntimeException told(RuntimeException failure) {
        Problem problem = Failures.problem(failure);
        return problem.type().status() < 500 ? problem : failure;
    }

    private static Map<String, String> query(String text) {
        Map<String, String> values = new HashMap<>();
        for (String pair : text.split("&", -1)) {
            int equals = pair.indexOf('=');
            values.put(decode(pair.substring(0, equals)), decode(pair.substring(equals + 1)));
        }
        return values;
    }

    private static String decode(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }
}
