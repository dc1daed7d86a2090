// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import io.reprise.server.http.Operation.Parameter;
import io.reprise.server.http.Operation.Place;
import io.reprise.server.http.Operation.Reply;
import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Builds the OpenAPI 3.1 document from the operations that are served. */
public final class OpenApi {

    private static final Schema FIELD_ERROR = Schema.object()
            .must("field", Schema.text(0, 500).about("JSON pointer into the body, or name of the parameter"))
            .must("message", Schema.text(1, 1000))
            .named("FieldError");

    static final Schema PROBLEM = Schema.object()
            .must("type", Schema.text(1, 200).about("urn:reprise:problem:…, which never changes"))
            .must("title", Schema.text(1, 200))
            .must("status", Schema.integer(400, 599))
            .must("detail", Schema.text(0, 2000))
            .must("instance", Schema.text(1, 200).about("of this one answer, and in the log of the server"))
            .may("errors", Schema.array(FIELD_ERROR, 1, 50).about("if fields of the request are wrong"))
            .named("Problem");

    private final Map<String, ObjectNode> components = new TreeMap<>();

    private OpenApi() {}

    /** Returns the document of these operations. */
    public static ObjectNode document(List<Operation> operations, String version) {
        return new OpenApi().write(operations, version);
    }

    private ObjectNode write(List<Operation> operations, String version) {
        ObjectNode document = Json.object();
        document.put("openapi", "3.1.0");
        document.putObject("info")
                .put("title", "Reprise")
                .put("version", version)
                .put("description", "A durable job queue whose heart is retry control. Errors are RFC 9457 problems.");
        ObjectNode paths = document.putObject("paths");
        for (Operation operation : operations) {
            paths.withObjectProperty(operation.path())
                    .set(operation.method().toLowerCase(Locale.ROOT), operation(operation));
        }
        reference(PROBLEM);
        ObjectNode parts = document.putObject("components");
        ObjectNode schemas = parts.putObject("schemas");
        components.forEach(schemas::set);
        parts.putObject("securitySchemes")
                .putObject("key")
                .put("type", "http")
                .put("scheme", "bearer")
                .put("description", "An API key: Authorization: Bearer reprise_…");
        return document;
    }

    private ObjectNode operation(Operation operation) {
        ObjectNode node = Json.object();
        node.put("operationId", operation.id());
        node.put("summary", operation.summary());
        node.putArray("tags").add(operation.section());
        Scope scope = operation.scope();
        if (scope != null) {
            node.put("description", "Needs a key with scope " + scope.text() + ".");
            node.putArray("security").addObject().putArray("key");
        }
        if (!operation.parameters().isEmpty()) {
            ArrayNode parameters = node.putArray("parameters");
            operation.parameters().values().forEach(each -> parameters.add(parameter(each)));
        }
        Schema body = operation.body();
        if (body != null) {
            ObjectNode request = node.putObject("requestBody").put("required", operation.bodyRequired());
            request.putObject("content").putObject("application/json").set("schema", reference(body));
        }
        ObjectNode responses = node.putObject("responses");
        operation.replies().forEach((status, reply) -> responses.set(Integer.toString(status), reply(reply)));
        ObjectNode problem = responses.putObject("default").put("description", "What went wrong");
        problem.putObject("content").putObject("application/problem+json").set("schema", reference(PROBLEM));
        return node;
    }

    private ObjectNode parameter(Parameter parameter) {
        ObjectNode node = Json.object()
                .put("name", parameter.name())
                .put("in", parameter.place().name().toLowerCase(Locale.ROOT))
                .put("required", parameter.place() == Place.PATH)
                .put("description", parameter.about());
        node.set("schema", reference(parameter.schema()));
        return node;
    }

    private ObjectNode reply(Reply reply) {
        ObjectNode node = Json.object().put("description", reply.about());
        Schema schema = reply.schema();
        if (schema != null) {
            ObjectNode content = node.putObject("content").putObject(reply.contentType());
            content.set("schema", reference(schema));
            if (reply.items() != null) {
                // OpenAPI 3.1 has no word for the parts of a stream; itemSchema is that of 3.2.
                content.set("x-itemSchema", reference(reply.items()));
            }
        }
        return node;
    }

    private ObjectNode reference(Schema schema) {
        if (schema.name == null) {
            return describe(schema);
        }
        if (!components.containsKey(schema.name)) {
            components.put(schema.name, Json.object());
            components.put(schema.name, describe(schema));
        }
        return Json.object().put("$ref", "#/components/schemas/" + schema.name);
    }

    private ObjectNode describe(Schema schema) {
        ObjectNode node = Json.object();
        if (schema.about != null) {
            node.put("description", schema.about);
        }
        switch (schema.kind) {
            case OBJECT -> object(node, schema);
            case ARRAY -> array(type(node, schema, "array"), schema);
            case ONE_OR_MORE -> oneOrMore(node, schema);
            case ONE_OF -> {
                ArrayNode either = node.putArray("oneOf");
                schema.alternatives.forEach(each -> either.add(reference(each)));
            }
            case STRING -> text(type(node, schema, "string"), schema);
            case INTEGER -> range(type(node, schema, "integer"), schema, "minimum", "maximum");
            case NUMBER -> range(type(node, schema, "number"), schema, "minimum", "maximum");
            case BOOLEAN -> type(node, schema, "boolean");
            case ANY, JSON -> {}
        }
        return node;
    }

    private void object(ObjectNode node, Schema schema) {
        type(node, schema, "object");
        ObjectNode properties = node.putObject("properties");
        schema.members.forEach((name, member) -> properties.set(name, reference(member)));
        if (!schema.required.isEmpty()) {
            ArrayNode required = node.putArray("required");
            schema.required.forEach(required::add);
        }
        if (schema.values == null) {
            node.put("additionalProperties", schema.open);
        } else {
            node.set("additionalProperties", reference(schema.values));
        }
    }

    private void array(ObjectNode node, Schema schema) {
        range(node, schema, "minItems", "maxItems");
        if (schema.items != null) {
            node.set("items", reference(schema.items));
        }
    }

    private void oneOrMore(ObjectNode node, Schema schema) {
        if (schema.items != null) {
            ArrayNode either = node.putArray("oneOf");
            either.add(reference(schema.items));
            array(either.addObject().put("type", "array"), schema);
        }
    }

    private static void text(ObjectNode node, Schema schema) {
        if (!schema.choices.isEmpty()) {
            ArrayNode choices = node.putArray("enum");
            schema.choices.forEach(choices::add);
            // An enumeration restricts the type, so null must be one of its values too.
            if (schema.nullable) {
                choices.addNull();
            }
            return;
        }
        if (schema.format == Schema.Format.DATE_TIME) {
            node.put("format", "date-time");
            return;
        }
        range(node, schema, "minLength", "maxLength");
        if (schema.pattern != null) {
            node.put("pattern", "^" + schema.pattern.pattern() + "$");
        }
    }

    private static void range(ObjectNode node, Schema schema, String least, String most) {
        number(node, least, schema.min);
        number(node, most, schema.max);
    }

    private static void number(ObjectNode node, String name, @Nullable BigDecimal value) {
        if (value != null && value.compareTo(BigDecimal.valueOf(Integer.MAX_VALUE)) < 0) {
            if (value.stripTrailingZeros().scale() <= 0) {
                node.put(name, value.longValue());
            } else {
                node.put(name, value);
            }
        }
    }

    private static ObjectNode type(ObjectNode node, Schema schema, String type) {
        if (schema.nullable) {
            node.putArray("type").add(type).add("null");
        } else {
            node.put("type", type);
        }
        return node;
    }
}
