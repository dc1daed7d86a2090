// SPDX-License-Identifier: Apache-2.0
package io.reprise.jackson;

import io.reprise.PayloadCodec;
import io.reprise.job.PayloadException;
import java.lang.reflect.Type;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.exc.UnrecognizedPropertyException;
import tools.jackson.databind.json.JsonMapper;

/**
 * A codec that reads and writes payloads with Jackson. By default it supports records and {@code java.time}, writes
 * times as ISO-8601 text, ignores unknown properties, and gives missing properties their Java default. So different
 * releases can run each other's jobs. Thread-safe.
 *
 * @since 0.1.0
 */
public final class JacksonCodec implements PayloadCodec {

    /** In the message of Jackson about a class without visible properties. */
    private static final String NO_PROPERTIES = "no properties discovered";

    private final JsonMapper mapper;

    /** Creates a codec with {@link #defaults}. */
    public JacksonCodec() {
        this(defaults().build());
    }

    /**
     * Creates a codec with a mapper of your own. {@link #defaults} is a good start for it.
     *
     * @throws NullPointerException if {@code mapper} is null
     */
    public JacksonCodec(JsonMapper mapper) {
        this.mapper = Objects.requireNonNull(mapper, "mapper");
    }

    /**
     * Returns a new builder with the default configuration, ready to be changed. Unknown properties are ignored. Null
     * for a primitive, text after the JSON value, and a class without visible properties are refused.
     */
    public static JsonMapper.Builder defaults() {
        return JsonMapper.builder()
                .addModule(MissingPrimitives.module())
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                // A null number must not silently become 0.
                .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                // A class without visible properties would be stored as {} and handled with nulls.
                .enable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
                .disable(DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS, DateTimeFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
                // The offset is part of the payload, so it is kept.
                .disable(DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE);
    }

    /**
     * Creates a codec that refuses a payload with a property that the class does not have, or without one that its
     * constructor takes. Such a job fails as UNREADABLE instead of running with a null or a zero. A property may be
     * null if it is written so. Properties that are set by setters or fields may be missing.
     */
    public static JacksonCodec strict() {
        return new JacksonCodec(defaults()
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
        } catch (JacksonException e) {
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
        } catch (JacksonException e) {
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
        } catch (JacksonException e) {
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
            } catch (JacksonException e) {
                throw refused("Cannot read JSON as " + type.getName() + ", which has no " + path(unknown), e);
            }
        } catch (JacksonException e) {
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
    private static PayloadException refused(String what, JacksonException e) {
        StringBuilder message = new StringBuilder(what);
        if (e instanceof DatabindException && !e.getPath().isEmpty()) {
            message.append(", at ").append(path(e));
        }
        TokenStreamLocation place = e.getLocation();
        if (place != null && place.getLineNr() > 0) {
            message.append(", line ").append(place.getLineNr());
            message.append(", column ").append(place.getColumnNr());
        }
        return new PayloadException(message.append(" (")
                .append(e.getClass().getSimpleName())
                .append(')')
                .toString());
    }

    private static String path(JacksonException e) {
        StringBuilder path = new StringBuilder();
        for (JacksonException.Reference step : e.getPath()) {
            if (step.getPropertyName() == null) {
                path.append('[').append(step.getIndex()).append(']');
            } else {
                path.append(path.isEmpty() ? "" : ".").append(step.getPropertyName());
            }
        }
        return path.toString();
    }
}
