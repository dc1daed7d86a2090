// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Holds answers against an OpenAPI document, by a validator that is not ours. Tests that talk to a server pass every answer
 * through it. Thread-safe.
 */
public final class AnswerCheck {

    private static final String JSON = "application/json";
    private static final String PROBLEM = "application/problem+json";

    private record Template(Pattern pattern, JsonNode methods, int literals) {}

    private final JsonNode document;
    private final List<Template> templates = new ArrayList<>();
    private final SchemaRegistry registry = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);
    private final Map<String, Schema> schemas = new ConcurrentHashMap<>();

    public AnswerCheck(JsonNode document) {
        this.document = document;
        document.get("paths").properties().forEach(path -> {
            String regex = path.getKey().replaceAll("\\{[^}]*}", "[^/]+").replace(".", "\\.");
            int literals = path.getKey().replaceAll("\\{[^}]*}", "").length();
            templates.add(new Template(Pattern.compile(regex), path.getValue(), literals));
        });
    }

    /** Holds an answer against the document. @throws AssertionError if the document does not allow it */
    public void check(HttpResponse<String> answer) {
        check(answer, answer.body());
    }

    /** The same for an answer whose body was read by other means. */
    public void check(HttpResponse<?> answer, String body) {
        String method = answer.request().method();
        String path = answer.request().uri().getRawPath();
        String type = answer.headers().firstValue("Content-Type").orElse("");
        check(method, path, answer.statusCode(), type, body);
    }

    private void check(String method, String path, int status, String type, String body) {
        String where = method + " " + path + " " + status;
        JsonNode operation = operation(method, path);
        JsonNode reply = reply(operation, status);
        if (reply == null) {
            throw new AssertionError(where + " is not in the document: " + body);
        }
        if (method.equals("HEAD")) {
            return;
        }
        String plain = type.split(";", 2)[0].trim();
        if (!reply.has("content")) {
            if (!body.isEmpty()) {
                throw new AssertionError(where + " has a body, and the document has none: " + body);
            }
            return;
        }
        JsonNode content = reply.get("content").path(plain);
        JsonNode schema = content.path("schema");
        if (schema.isMissingNode()) {
            throw new AssertionError(where + " is " + type + ", of which the document knows nothing");
        }
        if (plain.equals(JSON) || plain.equals(PROBLEM)) {
            require(where, schema, body);
        } else if (content.has("x-itemSchema")) {
            body.lines().forEach(line -> require(where, content.get("x-itemSchema"), line));
        }
    }

    private void require(String where, JsonNode schema, String json) {
        List<Error> errors = schema(schema).validate(Json.parse(json));
        if (!errors.isEmpty()) {
            throw new AssertionError(where + " is not as the document says: " + errors + " in " + json);
        }
    }

    private @Nullable JsonNode operation(String method, String path) {
        String verb = method.equals("HEAD") ? "get" : method.toLowerCase(Locale.ROOT);
        return templates.stream()
                .filter(template -> template.pattern.matcher(path).matches())
                .max((a, b) -> Integer.compare(a.literals, b.literals))
                .map(template -> template.methods.get(verb))
                .orElse(null);
    }

    /** What nothing is served for is answered with a problem, as everything that goes wrong. */
    private @Nullable JsonNode reply(@Nullable JsonNode operation, int status) {
        JsonNode any = operation == null ? document.at("/paths/~1healthz/get") : operation;
        JsonNode replies = any.path("responses");
        JsonNode exact = operation == null ? null : replies.get(Integer.toString(status));
        return exact != null || status < 400 ? exact : replies.get("default");
    }

    private Schema schema(JsonNode schema) {
        return schemas.computeIfAbsent(schema.toString(), text -> {
            ObjectNode root = (ObjectNode) Json.parse(text);
            root.set("components", document.get("components"));
            return registry.getSchema(root);
        });
    }
}
