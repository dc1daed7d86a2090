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

/** All errors of a policy at once, where reading it would stop at the first. */
public final class PolicyErrors {

    private static final int MAX_ERRORS = 50;
    private static final int MAX_NAME = 40;
    private static final JsonMapper MAPPER = JsonMapper.shared();

    private PolicyErrors() {}

    /** An error; the field is null if it concerns the text as a whole. */
    public record Found(@Nullable String field, String message) {}

    /** Empty if the text is a policy. */
    public static List<Found> in(String text) {
        Found whole = tried(null, text);
        if (whole == null) {
            return List.of();
        }
        List<Found> single = eachField(text);
        return single.isEmpty() ? List.of(whole) : single;
    }

    /** Every member by itself; what is wrong only in combination is not found here. */
    private static List<Found> eachField(String text) {
        List<Found> found = new ArrayList<>();
        try {
            JsonNode tree = MAPPER.readTree(text);
            for (Map.Entry<String, JsonNode> member : tree.properties()) {
                if (found.size() == MAX_ERRORS) {
                    break;
                }
                ObjectNode alone = MAPPER.createObjectNode();
                // Delays and their kind are only valid together.
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
