// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import io.reprise.retry.RetryPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** All errors of a policy file at once, where reading the policy would stop at the first. */
final class PolicyErrors {

    private PolicyErrors() {}

    /** An error; the field is null if it concerns the text as a whole. */
    record Found(@Nullable String field, String message) {}

    static List<Found> in(String text) {
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
            JsonNode tree = JsonOutput.mapper().readTree(text);
            for (Map.Entry<String, JsonNode> member : tree.properties()) {
                ObjectNode alone = JsonOutput.mapper().createObjectNode();
                // Delays and their kind are only valid together.
                boolean paired =
                        member.getKey().equals("backoff") || member.getKey().equals("delays");
                if (paired && tree.has("backoff") && tree.has("delays")) {
                    alone.set("backoff", tree.get("backoff"));
                    alone.set("delays", tree.get("delays"));
                } else {
                    alone.set(member.getKey(), member.getValue());
                }
                Found error = tried(member.getKey(), JsonOutput.write(alone));
                if (error != null && found.stream().noneMatch(known -> known.message.equals(error.message))) {
                    found.add(error);
                }
            }
        } catch (JacksonException e) {
            return List.of();
        }
        return found;
    }

    private static @Nullable Found tried(@Nullable String field, String json) {
        try {
            RetryPolicy.fromJson(json);
            return null;
        } catch (IllegalArgumentException e) {
            return new Found(field, String.valueOf(e.getMessage()));
        }
    }
}
