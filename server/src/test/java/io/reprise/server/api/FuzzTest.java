// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.http.Json;
import io.reprise.server.net.HttpSettings;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Throws everything at every operation that the server's own OpenAPI document names: what is missing, of the wrong kind, huge
 * or hostile is answered with a problem document, never with a failure of the server.
 */
class FuzzTest {

    private static final List<String> VALUES = List.of(
            "null",
            "true",
            "-1",
            "0",
            "99999999999999999999999999",
            "1e400",
            "0.5",
            "\"\"",
            "\"x\"",
            "\"" + "y".repeat(5_000) + "\"",
            "\"\\u0000\"",
            "\"\\ud800 ' ; drop table reprise_job; -- \\n\"",
            "\"../../etc/passwd\"",
            "\"-PT1S\"",
            "\"PT9223372036854775807S\"",
            "\"+1000000000-12-31T23:59:59Z\"",
            "[]",
            "[[[[[[]]]]]]",
            "{}",
            "{\"a\":{\"b\":[null]}}");

    private static final List<String> BODIES = List.of(
            "",
            "{",
            "nul",
            "\"",
            "[1,]",
            "{\"a\":1,\"a\":2}",
            "{}{}",
            "[".repeat(5_000),
            "1".repeat(10_000),
            "\u0000",
            "<xml/>",
            "{\"unknown\":1}");

    private static final List<String> TEXTS = List.of(
            "%20",
            "%00",
            "..",
            "%2F",
            "%2e%2e%2f",
            "x".repeat(3_000),
            "9223372036854775808",
            "-1",
            "0",
            "%F0%9F%92%A9",
            "%C3%28",
            "'%22%3C%3E",
            "a%20b",
            "1e9",
            "null",
            "PT9223372036854775807S",
            "%ED%A0%80");

    private final List<String> wrong = new ArrayList<>();
    private final TestServer server;
    private JsonNode document = Json.object();
    private int requests;

    FuzzTest(@TempDir Path directory) {
        server = new TestServer(TestServer.namedStore(directory), HttpSettings.Limits.DEFAULT, 1_000_000);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void no_request_makes_the_server_fail() {
        document = server.send(null, "GET", "/openapi.json", null).json();
        for (Map.Entry<String, JsonNode> path : document.get("paths").properties()) {
            for (Map.Entry<String, JsonNode> method : path.getValue().properties()) {
                attack(method.getKey().toUpperCase(Locale.ROOT), path.getKey(), method.getValue());
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(requests).isGreaterThan(2_000);
        assertThat(server.get("/readyz").status()).isEqualTo(200);
        assertThat(server.enqueue("{\"type\":\"still-works\"}")).isNotEmpty();
    }

    private void attack(String method, String path, JsonNode operation) {
        Map<String, JsonNode> parameters = new LinkedHashMap<>();
        operation
                .path("parameters")
                .forEach(each -> parameters.put(each.get("name").stringValue(), each));
        JsonNode schema = operation
                .path("requestBody")
                .path("content")
                .path("application/json")
                .path("schema");
        String body = schema.isMissingNode() ? null : example(schema).toString();
        send(method, fill(path, parameters, Map.of()), body, false);
        for (Map.Entry<String, JsonNode> parameter : parameters.entrySet()) {
            for (String text : TEXTS) {
                String name = parameter.getKey();
                switch (parameter.getValue().get("in").stringValue()) {
                    case "path" -> send(method, fill(path, parameters, Map.of(name, text)), body, false);
                    case "query" ->
                        send(method, fill(path, parameters, Map.of()) + "?" + name + "=" + text, body, false);
                    default -> send(method, fill(path, parameters, Map.of()), body, false, name, header(text));
                }
            }
        }
        String plain = fill(path, parameters, Map.of());
        send(method, plain + "?unknown=1", body, true);
        if (body == null) {
            send(method, plain, "{\"a\":1}", !method.equals("GET") || !path.equals("/v1/events"));
            return;
        }
        BODIES.forEach(text -> send(method, plain, text, !text.isEmpty() && !isAnything(schema)));
        VALUES.forEach(value -> send(method, plain, value, false));
        attackMembers(method, plain, resolve(schema), example(schema));
    }

    private void attackMembers(String method, String path, JsonNode schema, JsonNode example) {
        if (!(example instanceof ObjectNode object)) {
            return;
        }
        schema.path("required").forEach(name -> {
            ObjectNode without = object.deepCopy();
            without.remove(name.stringValue());
            send(method, path, without.toString(), true);
        });
        for (String name : schema.path("properties").propertyNames()) {
            for (String value : VALUES) {
                ObjectNode changed = object.deepCopy();
                changed.remove(name);
                String rest = changed.toString();
                String more = "\"" + name + "\":" + value;
                send(method, path, rest.equals("{}") ? "{" + more + "}" : "{" + more + "," + rest.substring(1), false);
            }
        }
        ObjectNode unknown = object.deepCopy();
        unknown.put("colour", "red");
        send(
                method,
                path,
                unknown.toString(),
                !schema.path("additionalProperties").asBoolean(false));
    }

    private static String header(String text) {
        return text.length() > 1_000 ? text.substring(0, 1_000) : text;
    }

    private boolean isAnything(JsonNode schema) {
        return !resolve(schema).has("type") && !resolve(schema).has("oneOf");
    }

    private String fill(String path, Map<String, JsonNode> parameters, Map<String, String> values) {
        String filled = path;
        for (Map.Entry<String, JsonNode> parameter : parameters.entrySet()) {
            String value = values.getOrDefault(
                    parameter.getKey(),
                    encode(example(parameter.getValue().get("schema")).asString()));
            filled = filled.replace("{" + parameter.getKey() + "}", value);
        }
        return filled;
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private JsonNode resolve(JsonNode schema) {
        JsonNode reference = schema.get("$ref");
        if (reference != null) {
            String name = reference.stringValue().substring("#/components/schemas/".length());
            return resolve(document.get("components").get("schemas").get(name));
        }
        return schema.has("oneOf") ? resolve(schema.get("oneOf").get(0)) : schema;
    }

    /** The smallest value that fits. */
    private JsonNode example(JsonNode unresolved) {
        JsonNode schema = resolve(unresolved);
        if (schema.has("enum")) {
            return schema.get("enum").get(0);
        }
        String type = schema.path("type").isArray()
                ? schema.get("type").get(0).stringValue()
                : schema.path("type").asString("object");
        return switch (type) {
            case "string" -> Json.tree(text(schema));
            case "integer", "number" -> schema.has("minimum") ? schema.get("minimum") : Json.tree(1);
            case "boolean" -> Json.tree(true);
            case "array" ->
                schema.path("minItems").asInt(0) == 0
                        ? Json.tree(List.of())
                        : Json.tree(List.of(example(schema.get("items"))));
            default -> {
                ObjectNode object = Json.object();
                schema.path("required")
                        .forEach(name -> object.set(
                                name.stringValue(),
                                example(schema.get("properties").get(name.stringValue()))));
                yield object;
            }
        };
    }

    private static String text(JsonNode schema) {
        if (schema.path("format").asString("").equals("date-time")) {
            return "2026-01-31T12:00:00Z";
        }
        String pattern = schema.path("pattern").asString("");
        if (pattern.contains("]+-[")) {
            return "1-1-" + "0".repeat(20);
        }
        if (pattern.isEmpty()) {
            return schema.path("description").asString("").startsWith("such as") ? "1s" : "x";
        }
        return "1";
    }

    private void send(String method, String path, String body, boolean mustBeRefused, String... headers) {
        requests++;
        HttpRequest.Builder request;
        try {
            request = HttpRequest.newBuilder(URI.create(server.server.url() + path));
        } catch (IllegalArgumentException e) {
            return;
        }
        request.header("Authorization", "Bearer " + server.admin).timeout(Duration.ofMinutes(3));
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        if (body == null) {
            request.method(method, HttpRequest.BodyPublishers.noBody());
        } else {
            request.header("Content-Type", "application/json")
                    .method(method, HttpRequest.BodyPublishers.ofString(body));
        }
        judge(method + " " + cut(path) + " " + cut(String.valueOf(body)), request.build(), mustBeRefused);
    }

    private void judge(String what, HttpRequest request, boolean mustBeRefused) {
        try {
            HttpResponse<InputStream> answer = server.client().send(request, HttpResponse.BodyHandlers.ofInputStream());
            try (InputStream in = answer.body()) {
                int status = answer.statusCode();
                if (status < 400 && mustBeRefused) {
                    wrong.add(what + " -> " + status + " although it is wrong");
                }
                String type = answer.headers().firstValue("Content-Type").orElse("");
                if (type.equals("text/event-stream")) {
                    return;
                }
                String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                try {
                    server.check().check(answer, text);
                } catch (AssertionError e) {
                    wrong.add(what + " -> " + cut(String.valueOf(e.getMessage())));
                }
                if (status < 400) {
                    return;
                }
                boolean isProblem = type.equals("application/problem+json") && text.contains("urn:reprise:problem:");
                if (status >= 500 || !isProblem || text.contains("\\tat ") || text.contains("Exception")) {
                    wrong.add(what + " -> " + status + " " + cut(text));
                }
            }
        } catch (IOException e) {
            wrong.add(what + " -> " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String cut(String text) {
        return text.length() <= 300 ? text : text.substring(0, 300) + "…";
    }
}
