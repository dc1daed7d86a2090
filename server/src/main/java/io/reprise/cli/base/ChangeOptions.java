// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import io.reprise.server.http.Json;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** Options that describe a change of waiting jobs. */
public final class ChangeOptions {

    @Option(names = "--at", paramLabel = "TIME", description = "Due then, such as 2026-12-01T09:00Z.")
    @Nullable
    String at;

    @Option(names = "--priority", paramLabel = "N", description = "-9 to 9; higher runs first.")
    @Nullable
    Integer priority;

    @Option(names = "--queue", paramLabel = "NAME", description = "Move them to this queue.")
    @Nullable
    String queue;

    @Option(
            names = "--policy",
            paramLabel = "NAME|JSON",
            description = "A preset, a stored policy, or the fields of one.")
    @Nullable
    String policy;

    @Option(names = "--payload", paramLabel = "JSON", description = "What the handler is given.")
    @Nullable
    String payload;

    /**
     * Returns the change as the API takes it.
     *
     * @throws BadInput if there is none, or a text cannot be read
     */
    public ObjectNode json() {
        ObjectNode change = Json.object();
        if (at != null) {
            change.put("dueAt", OptionText.time("--at", at));
        }
        if (priority != null) {
            change.put("priority", priority);
        }
        if (queue != null) {
            change.put("queue", queue);
        }
        if (policy != null) {
            change.set("policy", OptionText.policy("--policy", policy));
        }
        if (payload != null) {
            change.set("payload", OptionText.json("--payload", payload));
        }
        BadInput.require(!change.isEmpty(), "Say what to change: --at, --priority, --queue, --policy or --payload");
        return change;
    }
}
