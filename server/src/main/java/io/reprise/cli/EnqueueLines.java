// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.ExitCode;
import io.reprise.cli.terminal.Cells;
import io.reprise.cli.terminal.ProgressLine;
import io.reprise.cli.terminal.Terminal;
import io.reprise.server.client.Link;
import io.reprise.server.client.LinkException;
import io.reprise.server.client.ServerTarget;
import io.reprise.server.http.Json;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Enqueues many jobs, batch after batch. Each batch is stored as a whole or not at all. */
final class EnqueueLines {

    private static final int BATCH = 500;

    private final Link link;
    private final Terminal terminal;
    private final boolean json;

    EnqueueLines(Link link, Terminal terminal, boolean json) {
        this.link = link;
        this.terminal = terminal;
        this.json = json;
    }

    /**
     * Enqueues all jobs.
     *
     * @param members name of the batch that they are members of; null for none
     */
    int run(List<JsonNode> jobs, @Nullable String members) {
        int done = 0;
        long created = 0;
        JsonNode state = Json.object();
        ServerTarget target = members == null ? ServerTarget.of("jobs") : ServerTarget.of("batches", members, "jobs");
        try (ProgressLine progress = new ProgressLine(terminal, "enqueued", jobs.size())) {
            for (; done < jobs.size(); done += BATCH) {
                ArrayNode batch = Json.array();
                jobs.subList(done, Math.min(jobs.size(), done + BATCH)).forEach(batch::add);
                JsonNode enqueued = link.post(target, batch);
                if (members == null) {
                    for (JsonNode each : enqueued) {
                        created += each.path("created").booleanValue(false) ? 1 : 0;
                    }
                } else {
                    state = enqueued.path("batch");
                }
                progress.at(done + batch.size());
            }
        } catch (LinkException e) {
            terminal.err()
                    .println("reprise: " + done + " of " + jobs.size() + " jobs were enqueued, and no more: in what"
                            + " follows, /0 is job " + (done + 1) + ".");
            throw e;
        }
        if (members != null) {
            terminal.out()
                    .println(
                            json
                                    ? Json.text(state)
                                    : jobs.size() + " jobs were sent to batch " + members + ", which has "
                                            + Cells.text(state.path("total")) + " members");
            return ExitCode.OK;
        }
        ObjectNode result = Json.object().put("jobs", jobs.size()).put("created", created);
        terminal.out()
                .println(
                        json
                                ? Json.text(result)
                                : jobs.size() + " jobs: " + created + " enqueued, " + (jobs.size() - created)
                                        + " were there already");
        return ExitCode.OK;
    }
}
