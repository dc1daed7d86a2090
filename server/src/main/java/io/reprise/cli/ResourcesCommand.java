// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.Why;
import io.reprise.cli.terminal.Cells;
import io.reprise.cli.terminal.Terminal;
import io.reprise.cli.terminal.TextTable;
import io.reprise.server.client.ServerTarget;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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
final class ResourcesCommand extends ListingCommand {

    ResourcesCommand(Terminal terminal) {
        super(terminal, "resources");
    }

    @Command(
            name = "list",
            description = "List the resources of which there is something to tell.",
            footer = {"", "Example:", "  reprise resources list --json"})
    int list() {
        return listAll();
    }

    @Override
    TextTable table() {
        return new TextTable(
                "resource",
                "breaker",
                ">parked",
                ">jobs/s",
                ">aim",
                ">budget",
                ">wait for it",
                ">through in",
                "next probe",
                "why");
    }

    @Override
    Object[] row(JsonNode resource) {
        JsonNode ramp = resource.path("ramp");
        JsonNode budget = resource.path("budget");
        // Each parked job waits for one of the two, so all are through when the later one has let go of its jobs.
        double through = Math.max(
                ramp.path("throughInSeconds").doubleValue(-1),
                budget.path("throughInSeconds").doubleValue(-1));
        return new Object[] {
            Cells.text(resource.path("name")),
            Cells.text(resource.path("phase")),
            Cells.text(resource.path("parked")),
            number(ramp.path("rate")),
            number(ramp.path("aim")),
            number(budget.path("level")),
            budget.path("waiting").longValue(0) > 0 ? Cells.text(budget.path("waiting")) : "",
            through < 0 ? "" : number(through) + " s",
            Cells.time(resource.path("nextProbe")),
            Cells.cut(ramp.isObject() ? ramp.path("why") : resource.path("why"))
        };
    }

    private static String number(JsonNode value) {
        return value.isNumber() ? number(value.doubleValue()) : "";
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, value > 0 && value < 10 ? "%.2f" : "%,.0f", value);
    }

    @Command(
            name = "force-open",
            description = "Keep the breaker open, without probes: jobs of the resource wait and spend no attempt.",
            footer = {"", "Example:", "  reprise resources force-open smtp --why 'maintenance till 6'"})
    int forceOpen(
            @Parameters(paramLabel = "RESOURCE", description = "Name of the resource.") String resource,
            @Mixin Why why) {
        return force(resource, "force-open", why);
    }

    @Command(
            name = "force-close",
            description = "Keep the breaker closed, whatever fails.",
            footer = {"", "Example:", "  reprise resources force-close smtp"})
    int forceClose(
            @Parameters(paramLabel = "RESOURCE", description = "Name of the resource.") String resource,
            @Mixin Why why) {
        return force(resource, "force-close", why);
    }

    @Command(
            name = "automatic",
            description = "Leave the breaker to itself again.",
            footer = {"", "Example:", "  reprise resources automatic smtp"})
    int automatic(
            @Parameters(paramLabel = "RESOURCE", description = "Name of the resource.") String resource,
            @Mixin Why why) {
        return force(resource, "automatic", why);
    }

    private int force(String resource, String how, Why why) {
        return with(link -> {
            JsonNode now = link.post(ServerTarget.of("resources", resource, how), why.body());
            return answer(
                    now, "Resource %s: %s, %s", resource, Cells.text(now.path("phase")), Cells.text(now.path("why")));
        });
    }
}
