// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import io.reprise.server.http.Json;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** {@code --why}, on every command that changes something. */
final class Why {

    @Option(names = "--why", paramLabel = "TEXT", description = "For the audit log.")
    @Nullable
    String text;

    /** Returns a request body, with the reason if there is one. */
    ObjectNode body() {
        ObjectNode body = Json.object();
        return text == null ? body : body.put("why", text);
    }
}
