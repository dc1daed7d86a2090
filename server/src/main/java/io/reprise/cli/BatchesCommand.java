// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.terminal.Cells;
import io.reprise.cli.terminal.Terminal;
import io.reprise.cli.terminal.TextTable;
import io.reprise.server.client.Link;
import io.reprise.server.client.ServerTarget;
import io.reprise.server.http.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "batches",
        aliases = "batch",
        description =
                "Look at batches, which are jobs with a common end, create and close them. Without a command: list.",
        synopsisSubcommandLabel = "[COMMAND]",
        footer = {"", "Examples:", "  reprise batches", "  reprise batches show import-7"})
final class BatchesCommand extends ListingCommand {

    /** Pages of a thousand that a list shows at most. */
    private static final int MAX_PAGES = 10;

    BatchesCommand(Terminal terminal) {
        super(terminal, "batches");
    }

    @Command(
            name = "list",
            description = "List batches with their counts, by name.",
            footer = {"", "Example:", "  reprise batches list"})
    int list() {
        return listAll();
    }

    @Override
    JsonNode all(Link link, ServerTarget target) {
        ObjectNode all = Json.object();
        var items = all.putArray("items");
        JsonNode page = link.get(target.with("limit", "1000"));
        page.path("items").forEach(items::add);
        for (int pages = 1; page.path("next").isString() && pages < MAX_PAGES; pages++) {
            page = link.get(target.with("limit", "1000")
                    .with("cursor", page.path("next").stringValue("")));
            page.path("items").forEach(items::add);
        }
        all.set("next", page.path("next"));
        return all;
    }

    @Override
    TextTable table() {
        return new TextTable("batch", ">total", ">open", ">succeeded", ">dead", ">cancelled", ">done", "state");
    }

    @Override
    Object[] row(JsonNode batch) {
        return new Object[] {
            Cells.text(batch.path("name")),
            Cells.text(batch.path("total")),
            Cells.text(batch.path("open")),
            Cells.text(batch.path("succeeded")),
            Cells.text(batch.path("dead")),
            Cells.text(batch.path("cancelled")),
            Cells.text(batch.path("percent")) + "%",
            state(batch)
        };
    }

    private static String state(JsonNode batch) {
        if (batch.path("succeededAt").isString()) {
            return "succeeded " + Cells.time(batch.path("succeededAt"));
        }
        if (batch.path("endedAt").isString()) {
            return "ended " + Cells.time(batch.path("endedAt"));
        }
        return batch.path("closedAt").isString() ? "closed" : "takes members";
    }

    @Command(
            name = "show",
            description = "Show one batch: how much of it has ended, and the jobs that wait for it.",
            footer = {"", "Example:", "  reprise batches show import-7"})
    int show(@Parameters(paramLabel = "BATCH", description = "Name of the batch.") String name) {
        return with(link -> {
            JsonNode batch = link.get(ServerTarget.of("batches", name));
            return answer(
                    batch,
                    "Batch %s: %s of %s members have ended (%s %%), %s succeeded, %s dead, %s cancelled; %s."
                            + " For its success: job %s; for its end: job %s",
                    name,
                    String.valueOf(
                            batch.path("total").asLong(0) - batch.path("open").asLong(0)),
                    Cells.text(batch.path("total")),
                    Cells.text(batch.path("percent")),
                    Cells.text(batch.path("succeeded")),
                    Cells.text(batch.path("dead")),
                    Cells.text(batch.path("cancelled")),
                    state(batch),
                    Cells.text(batch.path("onSuccess")),
                    Cells.text(batch.path("onEnd")));
        });
    }

    @Command(
            name = "create",
            description = "Create a batch that takes members; one that is there stays as it is.",
            footer = {"", "Example:", "  reprise batches create import-7"})
    int create(@Parameters(paramLabel = "BATCH", description = "Name of the batch.") String name) {
        return with(link -> {
            JsonNode now = link.call("PUT", ServerTarget.of("batches", name), Json.object());
            return answer(now, "Batch %s has %s members", name, Cells.text(now.path("total")));
        });
    }

    @Command(
            name = "close",
            description = "Let a batch take no more members, so that it can end.",
            footer = {"", "Example:", "  reprise batches close import-7"})
    int close(@Parameters(paramLabel = "BATCH", description = "Name of the batch.") String name) {
        return with(link -> {
            JsonNode now = link.post(ServerTarget.of("batches", name, "close"), null);
            return answer(now, "Batch %s is closed; %s members are open", name, Cells.text(now.path("open")));
        });
    }
}
