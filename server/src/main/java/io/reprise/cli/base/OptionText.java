// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import io.reprise.server.http.Json;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** Reads the texts of options. */
public final class OptionText {

    private OptionText() {}

    /**
     * Reads JSON.
     *
     * @param option its name for the message
     * @throws BadInput if the text is empty or no JSON
     */
    public static JsonNode json(String option, String text) {
        if (text.isBlank()) {
            throw new BadInput(option + " is empty, and JSON is needed");
        }
        try {
            return Json.parse(text);
        } catch (JacksonException e) {
            throw new BadInput(option + " is not JSON: " + e.getOriginalMessage(), e);
        }
    }

    /**
     * Reads a time with its offset, with or without seconds, and returns it as the API takes it.
     *
     * @param option its name for the message
     * @throws BadInput if the text is no such time
     */
    public static String time(String option, String text) {
        try {
            return OffsetDateTime.parse(text).toInstant().toString();
        } catch (DateTimeParseException e) {
            throw new BadInput(
                    option + " is '" + text
                            + "' but must be a time such as 2026-12-01T09:00Z or 2026-12-01T10:00+01:00",
                    e);
        }
    }

    /** Reads a policy: the fields of one as JSON, or a name. */
    public static JsonNode policy(String option, String text) {
        return text.startsWith("{") ? json(option, text) : Json.tree(text);
    }
}
