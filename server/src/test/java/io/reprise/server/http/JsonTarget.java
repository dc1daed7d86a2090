// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import java.util.Arrays;
import tools.jackson.databind.JsonNode;

/** Request bodies: read or refused, and what was read can be written so that it is read as the same. */
public final class JsonTarget {

    private static final Schema SCHEMA = Schema.object()
            .may("type", Schema.text(0, 100))
            .may("number", Schema.integer(0, 1_000))
            .may("list", Schema.array(Schema.name(), 0, 10))
            .may("payload", Schema.json())
            .open();

    private JsonTarget() {}

    public static void fuzzerTestOneInput(byte[] input) {
        JsonNode node;
        try {
            node = Json.read(input, SCHEMA);
        } catch (Problem e) {
            return;
        }
        // By the text: 9e0 is written as 9, which is a number of another kind.
        byte[] written = Json.bytes(node);
        if (!Arrays.equals(Json.bytes(Json.read(written, SCHEMA)), written)) {
            throw new IllegalStateException("is read as something else when it was written");
        }
    }
}
