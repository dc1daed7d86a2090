// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.ExitCode;
import io.reprise.cli.terminal.Cells;
import io.reprise.cli.terminal.ProgressLine;
import io.reprise.server.client.Link;
import io.reprise.server.client.ServerTarget;
import io.reprise.server.http.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "discard",
        description = "Delete dead letters with their history: some by id, or all that match.",
        footer = {
            "",
            "Examples:",
            "  reprise dead discard 17 18 --why 'sent by hand'",
            "  reprise dead discard --queue mail --before 30d --dry-run",
            "  reprise dead discard --queue mail --before 30d --yes"
        })
final class DeadDiscardCommand extends DeadSelection {

    private static final int BATCH = 500;

    @Option(names = "--yes", description = "Do it. Needed for all that match, since nothing brings them back.")
    boolean yes;

    DeadDiscardCommand(DeadCommand dead) {
        super(dead);
    }

    @Override
    int byId() {
        BadInput.require(!dryRun, "--dry-run is not for ids");
        return dead.with(link -> dead.each(ids, id -> {
            link.post(ServerTarget.of("dead-letters", id, "discard"), why.body());
            return dead.answer(Json.object().put("discarded", id), "Job %s is discarded", id);
        }));
    }

    @Override
    int matching() {
        BadInput.require(dryRun || yes, "Nothing brings discarded jobs back: look with --dry-run, then say --yes");
        return dead.with(this::discard);
    }

    private int discard(Link link) {
        long matched = bulk(link, true, 10_000).path("matched").longValue(0);
        if (dryRun) {
            return dead.answer(Json.object().put("matched", matched), "%d dead letters match", matched);
        }
        long done = 0;
        JsonNode last;
        try (ProgressLine progress = new ProgressLine(dead.terminal, "discarded", matched)) {
            do {
                last = bulk(link, false, BATCH);
                done += last.path("done").longValue(0);
                progress.at(done);
            } while (last.path("matched").longValue(0) == BATCH
                    && last.path("done").longValue(0) > 0);
        }
        last.path("refused")
                .properties()
                .forEach(refused -> dead.terminal
                        .err()
                        .println("reprise: job " + refused.getKey() + ": " + Cells.text(refused.getValue())));
        ObjectNode result = Json.object().put("discarded", done);
        result.set("refused", last.path("refused"));
        dead.answer(result, "%d dead letters are discarded", done);
        return last.path("refused").isEmpty() ? ExitCode.OK : ExitCode.FINDING;
    }

    private JsonNode bulk(Link link, boolean dry, int limit) {
        ObjectNode body = why.body().put("action", "discard").put("dryRun", dry).put("limit", limit);
        body.set("filter", filter.json());
        return link.post(ServerTarget.of("dead-letters", "bulk"), body);
    }
}
