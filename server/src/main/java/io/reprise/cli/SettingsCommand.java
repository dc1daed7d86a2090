// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.ExitCode;
import io.reprise.cli.terminal.Terminal;
import io.reprise.server.client.ServerTarget;
import io.reprise.server.http.Json;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "settings",
        description = "Look at settings of the fleet and change them while it runs. Without a command: show.",
        synopsisSubcommandLabel = "[COMMAND]",
        footer = {
            "",
            "SCOPE is defaults, type:NAME, queue:NAME or resource:NAME. Every worker follows",
            "a change within 5 seconds. Jobs that wait keep the policy they were enqueued with.",
            "",
            "Examples:",
            "  reprise settings",
            "  reprise settings set type:bill '{\"policy\":\"weave\"}'",
            "  reprise settings set defaults '{\"retries\":false}'"
        })
final class SettingsCommand extends LinkedCommand {

    private static final Map<String, String> KINDS =
            Map.of("type", "types", "queue", "queues", "resource", "resources");

    SettingsCommand(Terminal terminal) {
        super(terminal);
    }

    @Override
    public Integer call() {
        return show();
    }

    @Command(
            name = "show",
            description = "Show the settings that are stored.",
            footer = {"", "Example:", "  reprise settings show"})
    int show() {
        return with(link -> {
            terminal.out().println(Json.text(link.get(ServerTarget.of("settings"))));
            return ExitCode.OK;
        });
    }

    @Command(
            name = "set",
            description = "Replace the settings of a scope.",
            footer = {"", "Example:", "  reprise settings set resource:smtp '{\"breaker\":{\"streak\":5}}'"})
    int set(
            @Parameters(index = "0", paramLabel = "SCOPE", description = "Whose settings.") String scope,
            @Parameters(index = "1", paramLabel = "JSON", description = "The settings; {} sets nothing.") String text) {
        ServerTarget target = target(scope);
        JsonNode body = object(text);
        return with(link -> {
            int code = answer(link.call("PUT", target, body), "Settings of %s are stored", scope);
            forWarnings(link, ServerTarget.of("settings", "warnings"))
                    .path("items")
                    .forEach(each -> terminal.err()
                            .println("warning: " + each.path("message").stringValue("")));
            return code;
        });
    }

    @Command(
            name = "unset",
            description = "Remove the settings of a scope, so that file and code apply again.",
            footer = {"", "Example:", "  reprise settings unset type:bill"})
    int unset(@Parameters(paramLabel = "SCOPE", description = "Whose settings.") String scope) {
        ServerTarget target = target(scope);
        return with(link -> answer(
                scope.equals("defaults") ? link.call("PUT", target, Json.object()) : link.call("DELETE", target, null),
                "Settings of %s are removed",
                scope));
    }

    private static ServerTarget target(String scope) {
        if (scope.equals("defaults")) {
            return ServerTarget.of("settings", "defaults");
        }
        int colon = scope.indexOf(':');
        String kind = colon < 0 ? null : KINDS.get(scope.substring(0, colon));
        if (kind == null || colon == scope.length() - 1) {
            throw new BadInput("SCOPE must be defaults, type:NAME, queue:NAME or resource:NAME, not '" + scope + "'");
        }
        return ServerTarget.of("settings", kind, scope.substring(colon + 1));
    }

    private static JsonNode object(String text) {
        try {
            JsonNode node = Json.parse(text);
            BadInput.require(node instanceof ObjectNode, "JSON must be an object, not '" + text + "'");
            return node;
        } catch (JacksonException e) {
            throw new BadInput("JSON cannot be read: " + e.getOriginalMessage(), e);
        }
    }
}
