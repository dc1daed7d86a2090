// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import io.reprise.server.http.Operation.Reply;
import io.reprise.server.http.Problem.FieldError;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks that answers are as their operations declare them: status, type and body. It is active only where assertions
 * are enabled, as in tests. There an answer that breaks its declaration is logged and becomes an internal error.
 */
final class ReplyCheck {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");

    private static final boolean ACTIVE = ReplyCheck.class.desiredAssertionStatus();

    private static final String ANY = "*/*";
    private static final String PROBLEM = "application/problem+json";

    private ReplyCheck() {}

    /**
     * Returns the answer, or a problem in its place if it breaks the declaration.
     *
     * @param operation null if the request found none: then only problems are allowed
     */
    static Response checked(@Nullable Operation operation, Response answer) {
        if (!ACTIVE) {
            return answer;
        }
        String wrong = wrong(operation, answer);
        if (wrong == null) {
            return answer;
        }
        report(operation, answer.status() + " " + wrong);
        return Problem.of(ProblemType.INTERNAL, "The answer is not as declared: " + shorten(wrong))
                .response(Problem.newInstance());
    }

    /** Checks some lines of a stream. */
    static void lines(@Nullable Operation operation, String lines) {
        if (ACTIVE) {
            lines.lines().forEach(line -> item(operation, line));
        }
    }

    /** Returns a sink that checks the events on their way. */
    static EventSink checked(@Nullable Operation operation, EventSink sink) {
        return ACTIVE ? new Checked(operation, sink) : sink;
    }

    private record Checked(@Nullable Operation operation, EventSink sink) implements EventSink {

        @Override
        public boolean send(String text) {
            text.lines()
                    .filter(line -> line.startsWith("data: "))
                    .forEach(line -> item(operation, line.substring("data: ".length())));
            return sink.send(text);
        }

        @Override
        public boolean isReady() {
            return sink.isReady();
        }

        @Override
        public void close() {
            sink.close();
        }

        @Override
        public void onEnd(Runnable action) {
            sink.onEnd(action);
        }
    }

    private static void item(@Nullable Operation operation, String text) {
        Reply reply = operation == null ? null : operation.replies().get(200);
        Schema items = reply == null ? null : reply.items();
        String wrong = items == null ? "streams undeclared items" : body(items, text.getBytes(StandardCharsets.UTF_8));
        if (wrong != null) {
            report(operation, wrong + " in " + shorten(text));
        }
    }

    private static @Nullable String wrong(@Nullable Operation operation, Response answer) {
        Reply reply = operation == null ? null : operation.replies().get(answer.status());
        String type = answer.contentType() == null ? "" : answer.contentType().split(";", 2)[0];
        if (reply == null) {
            return answer.status() >= 400 && type.equals(PROBLEM)
                    ? body(OpenApi.PROBLEM, answer.body())
                    : "is not declared";
        }
        if (!reply.contentType().equals(type) && !(reply.contentType().equals(ANY) && !type.isEmpty())) {
            return "has the type " + type + " instead of " + reply.contentType();
        }
        if (reply.schema() == null) {
            return answer.body().length == 0 ? null : "has an undeclared body";
        }
        return type.equals("application/json") ? body(reply.schema(), answer.body()) : null;
    }

    private static @Nullable String body(Schema schema, byte[] body) {
        try {
            SchemaCheck check = new SchemaCheck(false);
            check.value("", schema, Json.read(body, schema));
            List<FieldError> errors = check.errors();
            return errors.isEmpty() ? null : errors.toString();
        } catch (Problem e) {
            return e.detail();
        }
    }

    private static void report(@Nullable Operation operation, String wrong) {
        String what = (operation == null ? "no operation" : operation.id()) + " answers " + wrong;
        log.error("An answer is not as declared", new AssertionError(what));
    }

    private static String shorten(String text) {
        return text.length() <= 500 ? text : text.substring(0, 500) + "…";
    }
}
