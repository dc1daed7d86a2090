// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import io.reprise.server.config.Durations;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads members of a JSON object that was already checked. A null member counts as missing. */
public final class Fields {

    private final JsonNode object;

    public Fields(JsonNode object) {
        this.object = object;
    }

    public boolean has(String name) {
        return object.hasNonNull(name);
    }

    /** Whether the member is there, even if it is null. */
    public boolean mentions(String name) {
        return object.has(name);
    }

    public JsonNode node(String name) {
        return object.path(name);
    }

    /** Returns the text of a member that may be any JSON. */
    public String json(String name) {
        return object.path(name).toString();
    }

    public Fields in(String name) {
        return new Fields(object.path(name));
    }

    public List<Fields> each(String name) {
        List<Fields> all = new ArrayList<>();
        object.path(name).forEach(node -> all.add(new Fields(node)));
        return all;
    }

    public @Nullable String text(String name) {
        return has(name) ? object.get(name).stringValue() : null;
    }

    public String text(String name, String otherwise) {
        return has(name) ? object.get(name).stringValue() : otherwise;
    }

    public Set<String> texts(String name) {
        Set<String> all = new LinkedHashSet<>();
        object.path(name).forEach(node -> all.add(node.stringValue()));
        return all;
    }

    public int integer(String name, int otherwise) {
        return has(name) ? object.get(name).intValue() : otherwise;
    }

    public long large(String name, long otherwise) {
        return has(name) ? object.get(name).longValue() : otherwise;
    }

    public double number(String name, double otherwise) {
        return has(name) ? object.get(name).doubleValue() : otherwise;
    }

    public boolean flag(String name) {
        return has(name) && object.get(name).booleanValue();
    }

    public @Nullable Instant time(String name) {
        String value = text(name);
        return value == null ? null : Instant.parse(value);
    }

    public @Nullable Duration duration(String name) {
        String value = text(name);
        return value == null ? null : Durations.parse(value);
    }

    public Duration duration(String name, Duration otherwise) {
        String value = text(name);
        return value == null ? otherwise : Durations.parse(value);
    }
}
