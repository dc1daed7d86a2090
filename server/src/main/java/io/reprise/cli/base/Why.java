// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import io.reprise.server.http.Json;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** {@code --why}, on every command that changes something. */
public final class Why {

    @Option(names = "--why", paramLabel = "TEXT", description = "For the audit log.")
    @Nullable
    public String text;

    /** Returns a request body, with the reason if there is one. */
    public ObjectNode body() {
        ObjectNode body = Json.object();
        return text == null ? body : body.put("why", text);
    }
}
