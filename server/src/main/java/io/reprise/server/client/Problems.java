// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.client;

import tools.jackson.databind.JsonNode;

/** Shows problem documents as text for people. */
final class Problems {

    private Problems() {}

    /** Returns all errors, one per line. */
    static String text(String detail, JsonNode errors) {
        if (errors.size() < 2) {
            return detail;
        }
        StringBuilder text = new StringBuilder(detail).append(':');
        for (JsonNode error : errors) {
            text.append("\n  ")
                    .append(error.path("field").stringValue(""))
                    .append(": ")
                    .append(error.path("message").stringValue(""));
        }
        return text.toString();
    }
}
