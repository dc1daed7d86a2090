// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.client;

import io.reprise.server.http.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads server-sent events with JSON data. Not thread-safe. */
final class EventReader {

    private final Predicate<JsonNode> each;
    private @Nullable String lastId;

    EventReader(Predicate<JsonNode> each) {
        this.each = each;
    }

    /** Returns the id of the last event; null before the first. */
    @Nullable
    String lastId() {
        return lastId;
    }

    /** Reads the stream. Returns true if the stream ended although more is wanted. */
    boolean read(InputStream stream) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
        String id = null;
        String data = null;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("id:")) {
                id = line.substring(3).strip();
            } else if (line.startsWith("data:")) {
                data = line.substring(5).strip();
            } else if (line.isEmpty() && data != null) {
                lastId = id == null ? lastId : id;
                // An event without an id is about the stream, not about a job.
                if (id != null && !each.test(Json.parse(data))) {
                    return false;
                }
                id = null;
                data = null;
            }
        }
        return true;
    }
}
