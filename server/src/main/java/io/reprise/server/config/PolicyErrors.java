// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.config;

import io.reprise.retry.RetryPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Finds all errors of a policy. Parsing it would stop at the first. */
public final class PolicyErrors {

    private static final int MAX_ERRORS = 50;
    private static final int MAX_NAME = 40;
    private static final JsonMapper MAPPER = JsonMapper.shared();

    private PolicyErrors() {}

    /** An error. The field is null if the error concerns the whole text. */
    public record Found(@Nullable String field, String message) {}

    /** Returns the errors; empty if the text is a policy. */
    public static List<Found> in(String text) {
        Found whole = tried(null, text);
        if (whole == null) {
            return List.of();
        }
        List<Found> single = eachField(text);
        return single.isEmpty() ? List.of(whole) : single;
    }

    /** Checks every member alone. Errors that arise only in combination are not found here. */
    private static List<Found> eachField(String text) {
        List<Found> found = new ArrayList<>();
        try {
            JsonNode tree = MAPPER.readTree(text);
            for (Map.Entry<String, JsonNode> member : tree.properties()) {
                if (found.size() == MAX_ERRORS) {
                    break;
                }
                ObjectNode alone = MAPPER.createObjectNode();
                // The members delays and backoff are valid only together.
                boolean paired =
                        member.getKey().equals("backoff") || member.getKey().equals("delays");
                if (paired && tree.has("backoff") && tree.has("delays")) {
                    alone.set("backoff", tree.get("backoff"));
                    alone.set("delays", tree.get("delays"));
                } else {
                    alone.set(member.getKey(), member.getValue());
                }
                Found error = tried(member.getKey(), MAPPER.writeValueAsString(alone));
                if (error != null && found.stream().noneMatch(known -> known.message.equals(error.message))) {
                    found.add(error);
                }
            }
        } catch (JacksonException e) {
            return List.of();
        }
        return found;
    }

    private static @Nullable String shortened(@Nullable String field) {
        return field == null || field.length() <= MAX_NAME ? field : field.substring(0, MAX_NAME) + "…";
    }

    private static @Nullable Found tried(@Nullable String field, String json) {
        try {
            RetryPolicy.fromJson(json);
            return null;
        } catch (IllegalArgumentException e) {
            return new Found(shortened(field), String.valueOf(e.getMessage()));
        }
    }
}
