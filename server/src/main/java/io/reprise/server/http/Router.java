// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import io.reprise.server.http.Operation.Parameter;
import io.reprise.server.http.Operation.Place;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Finds the operation of a request and checks that the request fits it. Thread-safe after construction. */
final class Router {

    /** An operation with the path's parameters, not decoded yet. */
    record Match(Operation operation, Map<String, String> rawPath) {}

    /** A part of a path, with the words or the parameter that can follow it. The methods are of the path that ends here. */
    private static final class Node {
        final Map<String, Node> words = new HashMap<>();
        final Map<String, Operation> methods = new TreeMap<>();

        @Nullable
        Node parameter;
    }

    private final Node root = new Node();

    Router(List<Operation> operations) {
        for (Operation operation : operations) {
            Node node = root;
            for (String part : parts(operation.path())) {
                if (!isParameter(part)) {
                    node = node.words.computeIfAbsent(part, word -> new Node());
                } else {
                    Node next = node.parameter == null ? new Node() : node.parameter;
                    node.parameter = next;
                    node = next;
                }
            }
            if (node.methods.put(operation.method(), operation) != null) {
                throw new IllegalArgumentException(operation.method() + " " + operation.path() + " is there twice");
            }
        }
    }

    /**
     * Finds the operation for an encoded path. A word goes before a parameter.
     *
     * @throws Problem if there is none
     */
    Match find(String method, @Nullable String rawPath) {
        String[] parts = rawPath != null && rawPath.startsWith("/") ? parts(rawPath) : new String[0];
        Node node = end(root, parts, 0);
        if (node == null) {
            throw Problem.of(ProblemType.NOT_FOUND, "There is nothing at this path; see /openapi.json");
        }
        Operation operation = node.methods.get(method.equals("HEAD") ? "GET" : method);
        if (operation == null) {
            String allowed = String.join(", ", node.methods.keySet());
            throw Problem.of(ProblemType.METHOD_NOT_ALLOWED, "Allowed here: " + allowed)
                    .header("Allow", allowed);
        }
        Map<String, String> raw = new HashMap<>();
        String[] names = parts(operation.path());
        for (int i = 0; i < names.length; i++) {
            if (isParameter(names[i])) {
                raw.put(names[i].substring(1, names[i].length() - 1), parts[i]);
            }
        }
        return new Match(operation, raw);
    }

    private static @Nullable Node end(Node node, String[] parts, int from) {
        if (from == parts.length) {
            return node.methods.isEmpty() ? null : node;
        }
        Node word = node.words.get(parts[from]);
        Node found = word == null ? null : end(word, parts, from + 1);
        if (found == null && node.parameter != null && !parts[from].isEmpty()) {
            found = end(node.parameter, parts, from + 1);
        }
        return found;
    }

    private static String[] parts(String path) {
        return path.substring(1).split("/", -1);
    }

    private static boolean isParameter(String part) {
        return part.startsWith("{") && part.endsWith("}");
    }

    /**
     * Builds a request.
     *
     * @param query its parameters, decoded; each name has one value
     * @throws Problem naming every error
     */
    static Request check(
            Match match,
            Map<String, String> query,
            Function<String, @Nullable String> header,
            Caller caller,
            byte[] body) {
        Operation operation = match.operation;
        SchemaCheck check = new SchemaCheck();
        Map<String, String> values = new HashMap<>();
        for (Parameter parameter : operation.parameters().values()) {
            String value = value(parameter, match, query, header);
            if (value != null) {
                check.parameter(parameter.name(), parameter.schema(), value);
                values.put(parameter.name(), value);
            }
        }
        query.keySet().stream()
                .filter(name -> !isQuery(operation, name))
                .limit(10)
                .forEach(name -> check.unknown(name, queries(operation)));
        JsonNode json = json(operation, body, check);
        if (!check.errors().isEmpty()) {
            throw Problem.invalid(check.errors());
        }
        return new Request(caller, values, json);
    }

    private static JsonNode json(Operation operation, byte[] body, SchemaCheck check) {
        Schema schema = operation.body();
        if (schema == null) {
            if (body.length > 0) {
                throw Problem.invalid("", "no body is taken here");
            }
            return Json.object();
        }
        if (body.length == 0 && !operation.bodyRequired()) {
            return Json.object();
        }
        JsonNode json = Json.read(body, schema);
        check.value("", schema, json);
        return json;
    }

    private static List<String> queries(Operation operation) {
        return operation.parameters().keySet().stream()
                .filter(name -> isQuery(operation, name))
                .toList();
    }

    private static boolean isQuery(Operation operation, String name) {
        Parameter parameter = operation.parameters().get(name);
        return parameter != null && parameter.place() == Place.QUERY;
    }

    private static @Nullable String value(
            Parameter parameter, Match match, Map<String, String> query, Function<String, @Nullable String> header) {
        return switch (parameter.place()) {
            case PATH -> decode(match.rawPath.get(parameter.name()));
            case QUERY -> query.get(parameter.name());
            case HEADER -> header.apply(parameter.name());
        };
    }

    private static @Nullable String decode(@Nullable String raw) {
        // A plus is a plus in a path; URLDecoder would read a space.
        return raw == null ? null : URLDecoder.decode(raw.replace("+", "%2B"), StandardCharsets.UTF_8);
    }
}
