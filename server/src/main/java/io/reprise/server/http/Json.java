// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.util.RawValue;

/** JSON as the API reads and writes it: times as ISO-8601 text, members in the order they are declared. */
public final class Json {

    private static final int MAX_DEPTH = 100;
    private static final int MAX_NUMBER = 50;

    private static final JsonMapper MAPPER = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(MAX_DEPTH)
                            .maxNumberLength(MAX_NUMBER)
                            .build())
                    .build())
            .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS, DateTimeFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
            .build();

    private Json() {}

    public static byte[] bytes(Object value) {
        return MAPPER.writeValueAsBytes(value);
    }

    public static String text(Object value) {
        return MAPPER.writeValueAsString(value);
    }

    public static ObjectNode object() {
        return MAPPER.createObjectNode();
    }

    public static ArrayNode array() {
        return MAPPER.createArrayNode();
    }

    /** Text that this program wrote, and therefore can read. */
    public static JsonNode parse(String json) {
        return MAPPER.readTree(json);
    }

    /** Text that this program wrote, as what it was. */
    public static <T> T read(String json, Class<T> type) {
        return MAPPER.readValue(json, type);
    }

    /** Text that is JSON, to be written as it is. */
    public static Object raw(String json) {
        return new RawValue(json);
    }

    /** What something was and what it is, for the audit log; null if it was not there, or is not any more. */
    public static String change(@Nullable Object before, @Nullable Object after) {
        Map<String, @Nullable Object> change = new LinkedHashMap<>();
        change.put("before", before);
        change.put("after", after);
        return text(change);
    }

    /** A value as a tree. */
    public static JsonNode tree(Object value) {
        return MAPPER.valueToTree(value);
    }

    /** Half of a surrogate pair can only be written as an escape, from d800 to dfff. */
    private static boolean mayHaveHalfPair(byte[] body) {
        for (int i = 2; i < body.length; i++) {
            if ((body[i] == 'd' || body[i] == 'D') && body[i - 1] == 'u' && body[i - 2] == '\\') {
                return true;
            }
        }
        return false;
    }

    /** Text with half a surrogate pair could be stored, but never again be sent. */
    private static void requireWholePairs(JsonNode node) {
        try {
            MAPPER.writeValueAsBytes(node);
        } catch (JacksonException e) {
            throw Problem.invalid("", "the body has half of a surrogate pair");
        }
    }

    /** Whether text is JSON. Nothing is made of it, so that it may be long. */
    public static boolean isJson(String text) {
        try (JsonParser parser = MAPPER.createParser(text)) {
            if (parser.nextToken() == null) {
                return false;
            }
            parser.skipChildren();
            return parser.nextToken() == null;
        } catch (JacksonException e) {
            return false;
        }
    }

    /** Reads text that is JSON bit by bit. */
    public static JsonParser parser(String text) {
        return MAPPER.createParser(text);
    }

    static JsonGenerator generator(OutputStream out) {
        return MAPPER.createGenerator(out);
    }

    /** What a client sent. Jackson's own message may quote what is secret, so only the place is told. */
    static JsonNode read(byte[] body, Schema schema) {
        try (JsonParser parser = MAPPER.createParser(body)) {
            JsonNode node = new BodyReader(parser).read(schema);
            if (node == null) {
                throw Problem.invalid("", "is empty, and JSON is needed");
            }
            if (mayHaveHalfPair(body)) {
                requireWholePairs(node);
            }
            return node;
        } catch (NumberFormatException e) {
            // Jackson tells of an exponent beyond all bounds in this way.
            throw Problem.invalid("", "has a number that is too large");
        } catch (JacksonException e) {
            String place = e.getLocation() == null
                    ? ""
                    : " at line " + e.getLocation().getLineNr() + ", column "
                            + e.getLocation().getColumnNr();
            throw Problem.invalid("", "is not JSON" + place);
        }
    }
}
