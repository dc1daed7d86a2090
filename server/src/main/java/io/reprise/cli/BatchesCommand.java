// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.OptionText;
import io.reprise.cli.base.Why;
import io.reprise.cli.terminal.Cells;
import io.reprise.cli.terminal.Terminal;
import io.reprise.cli.terminal.TextTable;
import io.reprise.server.client.Link;
import io.reprise.server.client.ServerTarget;
import io.reprise.server.http.Json;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "batches",
        aliases = "batch",
        description =
                "Look at batches, which are jobs with a common end, create, close and finish them. Without a command: list.",
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
            footer = {
                "",
                "A JOB is what POST /v1/jobs takes. Members come by reprise jobs enqueue --batch.",
                "",
                "Examples:",
                "  reprise batches create import-7",
                "  reprise batches create import-7 --on-success '{\"type\":\"report\"}' --on-end '{\"type\":\"clean\"}'"
            })
    int create(
            @Parameters(paramLabel = "BATCH", description = "Name of the batch.") String name,
            @Option(
                            names = "--on-success",
                            paramLabel = "JOB",
                            description = "Runs when all members have succeeded, as JSON.")
                    @Nullable
                    String onSuccess,
            @Option(names = "--on-end", paramLabel = "JOB", description = "Runs when all members have ended, as JSON.")
                    @Nullable
                    String onEnd) {
        ObjectNode body = Json.object();
        if (onSuccess != null) {
            body.set("onSuccess", OptionText.json("--on-success", onSuccess));
        }
        if (onEnd != null) {
            body.set("onEnd", OptionText.json("--on-end", onEnd));
        }
        return with(link -> {
            JsonNode now = link.call("PUT", ServerTarget.of("batches", name), body);
            return answer(now, "Batch %s has %s members", name, Cells.text(now.path("total")));
        });
    }

    @Command(
            name = "close",
            description = "Let a batch take no more members, so that it can end.",
            footer = {"", "Example:", "  reprise batches close import-7"})
    int close(@Parameters(paramLabel = "BATCH", description = "Name of the batch.") String name, @Mixin Why why) {
        return with(link -> {
            JsonNode now = link.post(ServerTarget.of("batches", name, "close"), why.body());
            return answer(now, "Batch %s is closed; %s members are open", name, Cells.text(now.path("open")));
        });
    }

    @Command(
            name = "finish",
            description = "Let the job for the success of a batch go, although members are dead letters.",
            footer = {"", "Example:", "  reprise batches finish import-7 --why 'row 3 is not needed'"})
    int finish(@Parameters(paramLabel = "BATCH", description = "Name of the batch.") String name, @Mixin Why why) {
        return with(link -> {
            JsonNode now = link.post(ServerTarget.of("batches", name, "finish"), why.body());
            return answer(now, "Batch %s is finished; job %s is due", name, Cells.text(now.path("onSuccess")));
        });
    }
}
