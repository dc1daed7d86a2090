// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import io.reprise.server.client.Target;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "resources",
        description = "Look at breakers and budgets, and force breakers. Without a command: list.",
        synopsisSubcommandLabel = "[COMMAND]",
        footer = {
            "",
            "Examples:",
            "  reprise resources",
            "  reprise resources force-open smtp --why 'maintenance till 6'"
        })
final class ResourcesCommand extends LinkedCommand {

    ResourcesCommand(Terminal terminal) {
        super(terminal);
    }

    @Override
    public Integer call() {
        return list();
    }

    @Command(
            name = "list",
            description = "List the resources of which there is something to tell.",
            footer = {"", "Example:", "  reprise resources list --json"})
    int list() {
        return with(link -> {
            JsonNode page = link.get(Target.of("resources"));
            return answer(page, () -> print(page));
        });
    }

    private void print(JsonNode page) {
        if (page.path("items").isEmpty()) {
            terminal.out().println("No resources.");
            return;
        }
        Table table = new Table("resource", "breaker", ">parked", ">budget", "next probe", "why");
        for (JsonNode resource : page.path("items")) {
            table.add(
                    Cells.text(resource.path("name")),
                    Cells.text(resource.path("phase")),
                    Cells.text(resource.path("parked")),
                    String.format("%.1f", resource.path("budget").doubleValue(0)),
                    Cells.time(resource.path("nextProbe")),
                    Cells.cut(resource.path("why")));
        }
        table.print(terminal.out());
    }

    @Command(
            name = "force-open",
            description = "Keep the breaker open, without probes: jobs of the resource wait and spend no attempt.",
            footer = {"", "Example:", "  reprise resources force-open smtp --why 'maintenance till 6'"})
    int forceOpen(
            @Parameters(paramLabel = "RESOURCE", description = "Name of the resource.") String resource,
            @Option(names = "--why", paramLabel = "TEXT", description = "For the audit log.") @Nullable String why) {
        return force(resource, "force-open", why);
    }

    @Command(
            name = "force-close",
            description = "Keep the breaker closed, whatever fails.",
            footer = {"", "Example:", "  reprise resources force-close smtp"})
    int forceClose(
            @Parameters(paramLabel = "RESOURCE", description = "Name of the resource.") String resource,
            @Option(names = "--why", paramLabel = "TEXT", description = "For the audit log.") @Nullable String why) {
        return force(resource, "force-close", why);
    }

    @Command(
            name = "automatic",
            description = "Leave the breaker to itself again.",
            footer = {"", "Example:", "  reprise resources automatic smtp"})
    int automatic(
            @Parameters(paramLabel = "RESOURCE", description = "Name of the resource.") String resource,
            @Option(names = "--why", paramLabel = "TEXT", description = "For the audit log.") @Nullable String why) {
        return force(resource, "automatic", why);
    }

    private int force(String resource, String how, @Nullable String why) {
        return with(link -> {
            JsonNode now = link.post(Target.of("resources", resource, how), why(why));
            return answer(
                    now, "Resource %s: %s, %s", resource, Cells.text(now.path("phase")), Cells.text(now.path("why")));
        });
    }
}
