// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import io.reprise.text.SurrogatePairs;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.util.RawValue;

/**
 * Reads a body as its schema describes it. A tree of small objects takes thirty times the memory of its text. So a tree
 * is built only of members that the schema names, up to a number of values. Members that may be any JSON are checked
 * and kept as text; members that the schema refuses are skipped. Not thread-safe.
 */
final class BodyReader {

    private static final int MAX_VALUES = 200_000;
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private final JsonParser parser;
    private int values;

    BodyReader(JsonParser parser) {
        this.parser = parser;
    }

    /** Reads the only value; returns null if there is none. */
    @Nullable
    JsonNode read(Schema schema) {
        if (parser.nextToken() == null) {
            return null;
        }
        JsonNode node = value(schema);
        if (parser.nextToken() != null) {
            throw Problem.invalid("", "has something after its end");
        }
        return node;
    }

    /** Reads the value that begins at the current token. */
    private JsonNode value(Schema schema) {
        if (++values > MAX_VALUES) {
            throw Problem.invalid("", "has more than " + MAX_VALUES + " values");
        }
        JsonToken token = parser.currentToken();
        if (schema.kind == Schema.Kind.JSON && token != JsonToken.VALUE_NULL) {
            return NODES.pojoNode(new RawValue(text()));
        }
        return switch (token) {
            case START_OBJECT -> object(schema);
            case START_ARRAY -> array(schema);
            // The check against a schema of text names the field.
            case VALUE_STRING ->
                NODES.stringNode(schema.kind == Schema.Kind.STRING ? parser.getString() : whole(parser.getString()));
            case VALUE_NUMBER_INT -> integer();
            case VALUE_NUMBER_FLOAT -> NODES.numberNode(parser.getDecimalValue());
            case VALUE_TRUE -> NODES.booleanNode(true);
            case VALUE_FALSE -> NODES.booleanNode(false);
            case VALUE_NULL -> NODES.nullNode();
            default -> throw Problem.invalid("", "is not JSON");
        };
    }

    private JsonNode integer() {
        return switch (parser.getNumberType()) {
            case INT -> NODES.numberNode(parser.getIntValue());
            case LONG -> NODES.numberNode(parser.getLongValue());
            default -> NODES.numberNode(parser.getBigIntegerValue());
        };
    }

    private JsonNode object(Schema schema) {
        ObjectNode object = NODES.objectNode();
        Schema own = schema.kind == Schema.Kind.ONE_OR_MORE ? Objects.requireNonNull(schema.items) : schema;
        boolean any = own.kind == Schema.Kind.ANY || own.kind == Schema.Kind.ONE_OF;
        if (own.kind != Schema.Kind.OBJECT && !any) {
            parser.skipChildren();
            return object;
        }
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            parser.nextToken();
            Schema member = own.members.get(name);
            if (member != null || own.open || any) {
                object.set(name, value(member == null ? other(own) : member));
            } else {
                refused(object, name);
            }
        }
        return object;
    }

    private static Schema other(Schema object) {
        return object.values == null ? Schema.any() : object.values;
    }

    /** Keeps the name of a refused member, which is enough for the error, and skips its value. */
    private void refused(ObjectNode object, String name) {
        if (++values <= MAX_VALUES) {
            object.set(name, NODES.nullNode());
        }
        parser.skipChildren();
    }

    private JsonNode array(Schema schema) {
        ArrayNode array = NODES.arrayNode();
        boolean any = schema.kind == Schema.Kind.ANY;
        if (!any && schema.items == null) {
            parser.skipChildren();
            return array;
        }
        Schema items = any ? Schema.any() : Objects.requireNonNull(schema.items);
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            // One item too many is enough for a refusal.
            if (schema.max != null && array.size() > schema.max.intValue()) {
                parser.skipChildren();
            } else {
                array.add(value(items));
            }
        }
        return array;
    }

    /**
     * Returns the current value as text without blanks. Numbers stay as they were written.
     * Unpaired surrogates are refused.
     */
    private String text() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator out = Json.generator(bytes)) {
            int depth = 0;
            do {
                depth += copy(out);
            } while (depth > 0 && parser.nextToken() != null);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    /** Refuses half of a surrogate pair, which comes as an escape. It could be stored, but never be sent again. */
    private static String whole(String text) {
        if (!SurrogatePairs.areWhole(text)) {
            throw Problem.invalid("", "the body has half of a surrogate pair");
        }
        return text;
    }

    /** Copies a token. Returns the change in depth. */
    private int copy(JsonGenerator out) {
        switch (parser.currentToken()) {
            case START_OBJECT -> out.writeStartObject();
            case START_ARRAY -> out.writeStartArray();
            case END_OBJECT -> out.writeEndObject();
            case END_ARRAY -> out.writeEndArray();
            case PROPERTY_NAME -> out.writeName(whole(parser.currentName()));
            case VALUE_STRING -> out.writeString(whole(parser.getString()));
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> out.writeNumber(parser.getString());
            default -> out.copyCurrentEvent(parser);
        }
        return parser.currentToken().isStructStart() ? 1 : parser.currentToken().isStructEnd() ? -1 : 0;
    }
}
