// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Ends a request with an RFC 9457 problem document. Its text is for the caller: it never quotes a secret or a trace.
 */
public final class Problem extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** An error in one field, named by its JSON pointer in the body or by the parameter. */
    public record FieldError(String field, String message) {}

    private final transient ProblemType type;
    private final transient List<FieldError> errors;
    private final transient Map<String, String> headers;

    private Problem(ProblemType type, String detail, List<FieldError> errors, Map<String, String> headers) {
        super(detail);
        this.type = type;
        this.errors = List.copyOf(errors);
        this.headers = Map.copyOf(headers);
    }

    public static Problem of(ProblemType type, String detail) {
        return new Problem(type, detail, List.of(), Map.of());
    }

    /** A request with wrong fields; all of them are named. */
    public static Problem invalid(List<FieldError> errors) {
        String detail = errors.size() == 1
                ? (errors.get(0).field().isEmpty() ? "body" : errors.get(0).field()) + ": "
                        + errors.get(0).message()
                : errors.size() + " fields are wrong";
        return new Problem(ProblemType.INVALID_REQUEST, detail, errors, Map.of());
    }

    public static Problem invalid(String field, String message) {
        return invalid(List.of(new FieldError(field, message)));
    }

    public static Problem notFound(String what) {
        return of(ProblemType.NOT_FOUND, what + " does not exist");
    }

    public Problem header(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new Problem(type, detail(), errors, more);
    }

    public ProblemType type() {
        return type;
    }

    public String detail() {
        return String.valueOf(getMessage());
    }

    public List<FieldError> errors() {
        return errors;
    }

    /** Turns a failure into a problem for the caller. */
    public static Problem about(Throwable failure, Caller caller) {
        return Failures.problem(failure, caller);
    }

    /** Describes {@link #view()}. */
    public static final Schema VIEW = Schema.object()
            .must("type", Schema.text(1, 200))
            .must("title", Schema.text(1, 200))
            .must("status", Schema.integer(400, 599))
            .must("detail", Schema.text(0, 2000))
            .named("PartProblem");

    /** Returns the problem as a part of another answer. */
    public Map<String, Object> view() {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("type", type.uri());
        body.put("title", type.title());
        body.put("status", type.status());
        body.put("detail", detail());
        return body;
    }

    /** Returns an id for one occurrence of a problem, used in the answer and in the log. */
    static String newInstance() {
        return "urn:uuid:" + UUID.randomUUID();
    }

    Response response(@Nullable String instance) {
        Map<String, Object> body = view();
        if (instance != null) {
            body.put("instance", instance);
        }
        if (!errors.isEmpty()) {
            body.put("errors", errors);
        }
        Response answer = Response.json(type.status(), body).as("application/problem+json");
        for (Map.Entry<String, String> header : headers.entrySet()) {
            answer = answer.header(header.getKey(), header.getValue());
        }
        return answer;
    }
}
