// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.settings;

import io.reprise.server.http.Json;
import io.reprise.server.http.Problem.FieldError;
import io.reprise.settings.FleetSettings;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Finds the members that make settings wrong. Reading stops at the first error and knows no pointers, so each part is read
 * alone, and then without one of its members.
 */
final class SettingsErrors {

    static final List<String> NAMED = List.of("types", "queues", "resources");

    private static final int MAX_ERRORS = 50;

    /** With more members the object itself is named: each of them would be read as often as there are members. */
    private static final int MAX_MEMBERS = 100;

    private final String body;

    /**
     * Creates a search.
     *
     * @param body where in the settings the body of the request stands; pointers begin there
     */
    SettingsErrors(String body) {
        this.body = body;
    }

    /** Returns where the settings of a name stand. */
    static String pointer(String kind, String name) {
        return "/" + kind + "/" + escaped(name);
    }

    private static String escaped(String member) {
        return member.replace("~", "~0").replace("/", "~1");
    }

    /** Returns a pointer into the settings as one into the body of the request. */
    String shown(String pointer) {
        return pointer.startsWith(body) ? pointer.substring(body.length()) : pointer;
    }

    /**
     * Returns the errors, at least one.
     *
     * @param message of the refusal of all settings together, which is told if no member alone is wrong
     */
    List<FieldError> in(ObjectNode all, String message) {
        List<FieldError> found = new ArrayList<>();
        all.propertyStream().forEach(part -> {
            String kind = part.getKey();
            if (NAMED.contains(kind) && part.getValue() instanceof ObjectNode names) {
                names.propertyStream()
                        .forEach(each -> find(
                                pointer(kind, each.getKey()), object(each.getKey(), each.getValue()), kind, found));
            } else {
                find("/" + escaped(kind), part.getValue(), kind, found);
            }
        });
        return found.isEmpty() ? List.of(new FieldError("", message)) : found;
    }

    private void find(String at, JsonNode value, String kind, List<FieldError> found) {
        ObjectNode alone = object(kind, value);
        String refusal = found.size() < MAX_ERRORS ? refusal(alone) : null;
        if (refusal != null) {
            found.add(new FieldError(shown(inner(alone, at, refusal)), refusal));
        }
    }

    private static ObjectNode object(String name, JsonNode value) {
        return JsonNodeFactory.instance.objectNode().set(name, value.deepCopy());
    }

    /** Follows the members without which the refusal is another one, or there is none. */
    private static String inner(ObjectNode alone, String at, String refusal) {
        String known = at;
        while (alone.at(known) instanceof ObjectNode object && object.size() <= MAX_MEMBERS) {
            String member = culprit(alone, object, refusal);
            if (member == null) {
                break;
            }
            known += "/" + escaped(member);
        }
        return known;
    }

    private static @Nullable String culprit(ObjectNode alone, ObjectNode object, String refusal) {
        List<String> others = new ArrayList<>();
        for (String name : List.copyOf(object.propertyNames())) {
            ObjectNode whole = object.deepCopy();
            object.remove(name);
            String rest = refusal(alone);
            object.removeAll().setAll(whole);
            if (rest == null) {
                return name;
            }
            if (!rest.equals(refusal)) {
                others.add(name);
            }
        }
        return others.size() == 1 ? others.get(0) : null;
    }

    private static @Nullable String refusal(ObjectNode settings) {
        try {
            FleetSettings.fromJson(FleetSettings.fromJson(Json.text(settings)).toJson());
            return null;
        } catch (IllegalArgumentException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
