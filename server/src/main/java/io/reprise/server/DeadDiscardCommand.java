// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import io.reprise.server.client.Link;
import io.reprise.server.client.Target;
import io.reprise.server.http.Json;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
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
final class DeadDiscardCommand implements Callable<Integer> {

    private static final int BATCH = 500;

    private final DeadCommand dead;

    @Parameters(paramLabel = "ID", arity = "0..*", description = "Ids of dead letters.")
    List<String> ids = List.of();

    @Mixin
    JobFilter filter = new JobFilter();

    @Option(names = "--all", description = "All dead letters there are.")
    boolean all;

    @Option(names = "--dry-run", description = "Only count what matches, up to 10000.")
    boolean dryRun;

    @Option(names = "--yes", description = "Do it. Needed for all that match, since nothing brings them back.")
    boolean yes;

    @Option(names = "--why", paramLabel = "TEXT", description = "For the audit log.")
    @Nullable
    String why;

    DeadDiscardCommand(DeadCommand dead) {
        this.dead = dead;
    }

    @Override
    public Integer call() {
        BadInput.require(
                ids.isEmpty() != (filter.isEmpty() && !all),
                "Say which: ids, or options such as --fingerprint and --queue, or --all; but not both");
        if (!ids.isEmpty()) {
            BadInput.require(!dryRun, "--dry-run is not for ids");
            return dead.with(link -> dead.each(ids, id -> {
                link.post(Target.of("dead-letters", id, "discard"), LinkedCommand.why(why));
                return dead.answer(Json.object().put("discarded", id), "Job %s is discarded", id);
            }));
        }
        BadInput.require(dryRun || yes, "Nothing brings discarded jobs back: look with --dry-run, then say --yes");
        return dead.with(this::matching);
    }

    private int matching(Link link) {
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
        ObjectNode body = LinkedCommand.why(why)
                .put("action", "discard")
                .put("dryRun", dry)
                .put("limit", limit);
        body.set("filter", filter.json());
        return link.post(Target.of("dead-letters", "bulk"), body);
    }
}
