// SPDX-License-Identifier: Apache-2.0
package io.reprise.jackson;

import io.reprise.PayloadCodec;
import io.reprise.PayloadException;
import java.util.Objects;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads and writes payloads with Jackson. Unless given a mapper, it takes records and {@code java.time}, writes times as
 * ISO-8601 text, and ignores properties it does not know and gives those left out their Java default, so that
 * releases can run each other's jobs. Thread-safe.
 */
public final class JacksonCodec implements PayloadCodec {

    private final JsonMapper mapper;

    public JacksonCodec() {
        this(defaults().build());
    }

    /** With a mapper of your own; {@link #defaults} is a good place to start from. */
    public JacksonCodec(JsonMapper mapper) {
        this.mapper = Objects.requireNonNull(mapper, "mapper");
    }

    /** The configuration used unless another is given, ready to be changed. */
    public static JsonMapper.Builder defaults() {
        return JsonMapper.builder()
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                // A number that is null must not silently become 0.
                .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .disable(DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS, DateTimeFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
                // The offset is part of what was sent.
                .disable(DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE);
    }

    @Override
    public String encode(Object value) {
        try {
            return mapper.writeValueAsString(value);
        } catch (JacksonException e) {
            throw refused("Cannot write " + value.getClass().getName() + " as JSON", e);
        }
    }

    @Override
    public <T> T decode(String json, Class<T> type) {
        T value;
        try {
            value = mapper.readValue(json, type);
        } catch (JacksonException e) {
            throw refused("Cannot read JSON as " + type.getName(), e);
        }
        if (value == null) {
            throw new PayloadException("Cannot read JSON as " + type.getName() + ": it is null");
        }
        return value;
    }

    /** Jackson's own messages quote the text they stumble over, which may be secret; so neither they nor the cause go on. */
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
