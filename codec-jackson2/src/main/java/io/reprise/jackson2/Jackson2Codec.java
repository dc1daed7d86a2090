// SPDX-License-Identifier: Apache-2.0
package io.reprise.jackson2;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import io.reprise.PayloadCodec;
import io.reprise.job.PayloadException;
import java.lang.reflect.Type;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A codec that reads and writes payloads with Jackson 2. By default it supports records, {@code Optional} and
 * {@code java.time}, writes times as ISO-8601 text, ignores unknown properties, and gives missing properties their Java
 * default. So different releases can run each other's jobs. Thread-safe.
 *
 * @since 0.1.0
 */
public final class Jackson2Codec implements PayloadCodec {

    /** In the message of Jackson about a class without visible properties. */
    private static final String NO_PROPERTIES = "no properties discovered";

    private final ObjectMapper mapper;

    /** Creates a codec with {@link #defaults}. */
    public Jackson2Codec() {
        this(defaults().build());
    }

    /**
     * Creates a codec with a mapper of your own. {@link #defaults} is a good start for it. Do not change the mapper
     * afterwards.
     *
     * @throws NullPointerException if {@code mapper} is null
     */
    public Jackson2Codec(ObjectMapper mapper) {
        this.mapper = Objects.requireNonNull(mapper, "mapper");
    }

    /**
     * Returns a new builder with the default configuration, ready to be changed. Unknown properties are ignored. Null
     * for a primitive, text after the JSON value, and a class without visible properties are refused.
     */
    public static JsonMapper.Builder defaults() {
        return JsonMapper.builder()
                .addModules(new Jdk8Module(), new JavaTimeModule(), MissingNumbers.module())
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                // A null number must not silently become 0.
                .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                // As Jackson 3 does, so that both codecs write the same text.
                .enable(
                        MapperFeature.SORT_PROPERTIES_ALPHABETICALLY,
                        MapperFeature.SORT_CREATOR_PROPERTIES_BY_DECLARATION_ORDER)
                .disable(
                        SerializationFeature.WRITE_DATES_AS_TIMESTAMPS,
                        SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
                // A class without visible properties would be stored as {} and handled with nulls.
                .enable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
                // The offset is part of the payload, so it is kept.
                .disable(DeserializationFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE);
    }

    /**
     * Creates a codec that refuses a payload with a property that the class does not have, or without one that its
     * constructor takes. Such a job fails as UNREADABLE instead of running with a null or a zero. A property may be
     * null if it is written so. Properties that are set by setters or fields may be missing.
     */
    public static Jackson2Codec strict() {
        return new Jackson2Codec(defaults()
                .enable(
                        DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES,
                        DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
                .build());
    }

    /**
     * Writes the value as JSON text.
     *
     * @throws PayloadException if Jackson cannot write the value. The message holds the place and never the content
     */
    @Override
    public String encode(Object value) {
        try {
            String json = mapper.writeValueAsString(value);
            // An annotation of its interface, such as @FunctionalInterface, makes Jackson write a lambda as an empty
            // class.
            if (json.equals("{}") && value.getClass().isHidden()) {
                throw new PayloadException("Cannot write a lambda as JSON: it has no visible properties");
            }
            return json;
        } catch (JsonProcessingException e) {
            String why = e.getOriginalMessage().contains(NO_PROPERTIES)
                    ? ": it, or a part of it, has no visible properties"
                    : "";
            throw refused("Cannot write " + value.getClass().getName() + " as JSON" + why, e);
        }
    }

    /**
     * Reads JSON text as the class.
     *
     * @throws PayloadException if Jackson cannot read the text as this class, or the text is {@code null}. The message
     *     holds the place and never the content
     */
    @Override
    public <T> T decode(String json, Class<T> type) {
        try {
            return required(mapper.readValue(json, type), type);
        } catch (JsonProcessingException e) {
            throw refused("Cannot read JSON as " + type.getName(), e);
        }
    }

    /**
     * Reads JSON text as a class or a type with arguments.
     *
     * @throws PayloadException see {@link #decode(String, Class)}
     */
    @Override
    public Object decode(String json, Type type) {
        try {
            Object value = mapper.readValue(json, mapper.constructType(type));
            return required(value, type);
        } catch (JsonProcessingException e) {
            throw refused("Cannot read JSON as " + type.getTypeName(), e);
        }
    }

    /**
     * Reads the stored result of a step. A text that has a property which the class does not have, and lacks one that its
     * constructor takes, is refused: a property was renamed, or the class is another one. A property that was only added or
     * only removed is no reason to refuse, so releases that differ in one can run each other's jobs. If the mapper leaves
     * nulls out, a property that was null counts as one that the text lacks.
     *
     * @throws PayloadException see {@link #decode(String, Class)}
     */
    @Override
    public <T> T decodeResult(String json, Class<T> type) {
        if (mapper.isEnabled(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)) {
            return decode(json, type);
        }
        ObjectReader reader = mapper.readerFor(type);
        try {
            T value = reader.with(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                    .readValue(json);
            return required(value, type);
        } catch (UnrecognizedPropertyException unknown) {
            try {
                T value = reader.with(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
                        .readValue(json);
                return required(value, type);
            } catch (JsonProcessingException e) {
                throw refused("Cannot read JSON as " + type.getName() + ", which has no " + path(unknown), e);
            }
        } catch (JsonProcessingException e) {
            throw refused("Cannot read JSON as " + type.getName(), e);
        }
    }

    private static <T> T required(@Nullable T value, Type type) {
        if (value == null) {
            throw new PayloadException("Cannot read JSON as " + type.getTypeName() + ": it is null");
        }
        return value;
    }

    /**
     * Jackson quotes the text that it cannot read in its messages. The text may be secret, so neither the message nor
     * the cause is passed on.
     */
    private static PayloadException refused(String what, JsonProcessingException e) {
        StringBuilder message = new StringBuilder(what);
        if (e instanceof JsonMappingException mapping && !mapping.getPath().isEmpty()) {
            message.append(", at ").append(path(mapping));
        }
        JsonLocation place = e.getLocation();
        if (place != null && place.getLineNr() > 0) {
            message.append(", line ").append(place.getLineNr());
            message.append(", column ").append(place.getColumnNr());
        }
        return new PayloadException(message.append(" (")
                .append(e.getClass().getSimpleName())
                .append(')')
                .toString());
    }

    private static String path(JsonMappingException e) {
        StringBuilder path = new StringBuilder();
        for (JsonMappingException.Reference step : e.getPath()) {
            if (step.getFieldName() == null) {
                path.append('[').append(step.getIndex()).append(']');
            } else {
                path.append(path.isEmpty() ? "" : ".").append(step.getFieldName());
            }
        }
        return path.toString();
    }
}
