// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import io.reprise.cli.terminal.Cells;
import io.reprise.cli.terminal.CtrlC;
import io.reprise.cli.terminal.ProgressLine;
import io.reprise.cli.terminal.Terminal;
import io.reprise.server.client.Link;
import io.reprise.server.client.ServerTarget;
import io.reprise.server.http.Json;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Options of a command on all jobs that a search finds. It starts a bulk and shows its progress. */
public final class BulkOptions {

    private static final Duration LOOK = Duration.ofMillis(500);

    @Option(
            names = "--to",
            paramLabel = "SEARCH",
            description = "All jobs that it finds, such as 'type:bill state:pending'. It must name a state.")
    public @Nullable String to;

    @Option(names = "--dry-run", description = "Only count what matches.")
    public boolean dryRun;

    @Option(names = "--detach", description = "Start and do not watch. Needs a server.")
    public boolean detach;

    /**
     * Starts a bulk and watches it to its end.
     *
     * @param body action and reason
     * @return the exit code
     */
    public int start(Terminal terminal, boolean json, Link link, ObjectNode body) {
        JsonNode bulk = link.post(
                ServerTarget.of("bulks"), body.put("q", String.valueOf(to)).put("dryRun", dryRun));
        if (!dryRun && !detach) {
            bulk = watched(terminal, link, bulk);
        }
        terminal.out().println(json ? Json.text(bulk) : text(bulk));
        return isFine(bulk) ? ExitCode.OK : ExitCode.FINDING;
    }

    private boolean isFine(JsonNode bulk) {
        String state = bulk.path("state").stringValue("");
        return dryRun || detach || (state.equals("DONE") && bulk.path("refused").longValue(0) == 0);
    }

    private String text(JsonNode bulk) {
        boolean more = bulk.path("matchedAtLeast").booleanValue(false);
        boolean one = bulk.path("matched").longValue(0) == 1;
        String matched = (more ? "at least " : "") + Cells.text(bulk.path("matched")) + (one ? " job" : " jobs");
        if (dryRun) {
            return matched + (one ? " matches" : " match");
        }
        String note = bulk.path("note").isString() ? "; " + Cells.text(bulk.path("note")) : "";
        return "Bulk " + Cells.text(bulk.path("id")) + " of " + matched + ": " + Cells.text(bulk.path("state")) + ". "
                + bulk.path("done") + " changed, " + bulk.path("refused") + " refused" + note;
    }

    private static JsonNode watched(Terminal terminal, Link link, JsonNode first) {
        JsonNode bulk = first;
        String id = Cells.text(first.path("id"));
        try (CtrlC ctrlC = CtrlC.listen();
                ProgressLine progress = new ProgressLine(
                        terminal, "changed", first.path("matched").longValue(0))) {
            while (bulk.path("endedAt").isNull()
                    && bulk.path("state").stringValue("").equals("RUNNING")
                    && !ctrlC.await(LOOK)) {
                bulk = link.get(ServerTarget.of("bulks", id));
                progress.at(
                        bulk.path("done").longValue(0),
                        ", " + bulk.path("refused").longValue(0) + " refused");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return bulk;
    }
}
