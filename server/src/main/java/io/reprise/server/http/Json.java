// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import io.reprise.server.config.Instants;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.time.Instant;
import java.util.Collection;
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

/** JSON as the API reads and writes it: times as ISO-8601 text, members in the order of declaration. */
public final class Json {

    private static final int MAX_DEPTH = 100;
    private static final int MAX_NUMBER = 50;
    private static final int USUAL = 1_000;

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
        ByteArrayOutputStream out = new ByteArrayOutputStream(USUAL);
        try (JsonGenerator generator = MAPPER.createGenerator(out)) {
            write(generator, value);
        }
        return out.toByteArray();
    }

    /**
     * Writes what views are made of. The mapper, which would look up how to write each value, gets the rest. An answer
     * with a hundred jobs has thousands of values.
     */
    private static void write(JsonGenerator generator, @Nullable Object value) {
        if (value == null) {
            generator.writeNull();
        } else if (value instanceof String text) {
            generator.writeString(text);
        } else if (value instanceof Map<?, ?> map) {
            generator.writeStartObject();
            map.forEach((name, member) -> {
                generator.writeName(String.valueOf(name));
                write(generator, member);
            });
            generator.writeEndObject();
        } else if (value instanceof Collection<?> items) {
            generator.writeStartArray();
            items.forEach(item -> write(generator, item));
            generator.writeEndArray();
        } else if (value instanceof Integer number) {
            generator.writeNumber(number);
        } else if (value instanceof Long number) {
            generator.writeNumber(number);
        } else if (value instanceof Boolean flag) {
            generator.writeBoolean(flag);
        } else if (value instanceof Instant time) {
            generator.writeString(Instants.text(time));
        } else if (value instanceof Enum<?> constant) {
            generator.writeString(constant.toString());
        } else if (value instanceof RawValue raw) {
            generator.writeRawValue(String.valueOf(raw.rawValue()));
        } else {
            generator.writePOJO(value);
        }
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

    /** Parses text that this program wrote. */
    public static JsonNode parse(String json) {
        return MAPPER.readTree(json);
    }

    /** Reads an object from text that this program wrote. */
    public static <T> T read(String json, Class<T> type) {
        return MAPPER.readValue(json, type);
    }

    /** Marks JSON text that is written as it is. */
    public static Object raw(String json) {
        return new RawValue(json);
    }

    /** Returns the state before and after a change, for the audit log; null where there is none. */
    public static String change(@Nullable Object before, @Nullable Object after) {
        Map<String, @Nullable Object> change = new LinkedHashMap<>();
        change.put("before", before);
        change.put("after", after);
        return text(change);
    }

    /** Returns a value as a tree. */
    public static JsonNode tree(Object value) {
        return MAPPER.valueToTree(value);
    }

    /** Whether text is JSON. It builds nothing, so the text may be long. */
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

    /** Returns a parser that reads JSON text as a stream. */
    public static JsonParser parser(String text) {
        return MAPPER.createParser(text);
    }

    static JsonGenerator generator(OutputStream out) {
        return MAPPER.createGenerator(out);
    }

    /** Reads the body of a client. The error names only the place, because Jackson's message may quote secrets. */
    static JsonNode read(byte[] body, Schema schema) {
        try (JsonParser parser = MAPPER.createParser(body)) {
            JsonNode node = new BodyReader(parser).read(schema);
            if (node == null) {
                throw Problem.invalid("", "is empty, and JSON is needed");
            }
            return node;
        } catch (NumberFormatException e) {
            // Jackson reports an exponent that is too large in this way.
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
