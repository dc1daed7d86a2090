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
import org.eclipse.jetty.http.pathmap.MatchedResource;
import org.eclipse.jetty.http.pathmap.PathMappings;
import org.eclipse.jetty.http.pathmap.UriTemplatePathSpec;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Finds the operation of a request and checks that the request fits it. Thread-safe after construction. */
final class Router {

    /** An operation with the path's parameters, not decoded yet. */
    record Match(Operation operation, Map<String, String> rawPath) {}

    private final PathMappings<Map<String, Operation>> paths = new PathMappings<>();

    Router(List<Operation> operations) {
        Map<String, Map<String, Operation>> byPath = new TreeMap<>();
        for (Operation operation : operations) {
            Operation other = byPath.computeIfAbsent(operation.path(), path -> new TreeMap<>())
                    .put(operation.method(), operation);
            if (other != null) {
                throw new IllegalArgumentException(operation.method() + " " + operation.path() + " is there twice");
            }
        }
        byPath.forEach((path, methods) -> paths.put(new UriTemplatePathSpec(path), methods));
    }

    /**
     * Finds the operation for an encoded path.
     *
     * @throws Problem if there is none
     */
    Match find(String method, String rawPath) {
        MatchedResource<Map<String, Operation>> matched = paths.getMatched(rawPath);
        if (matched == null) {
            throw Problem.of(ProblemType.NOT_FOUND, "There is nothing at this path; see /openapi.json");
        }
        Map<String, Operation> methods = matched.getResource();
        Operation operation = methods.get(method.equals("HEAD") ? "GET" : method);
        if (operation == null) {
            throw Problem.of(ProblemType.METHOD_NOT_ALLOWED, "Allowed here: " + String.join(", ", methods.keySet()))
                    .header("Allow", String.join(", ", methods.keySet()));
        }
        Map<String, String> raw = matched.getPathSpec() instanceof UriTemplatePathSpec template
                ? template.getPathParams(rawPath)
                : Map.of();
        return new Match(operation, raw == null ? Map.of() : raw);
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
                .forEach(name -> check.unknown(name));
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
