// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.OptionText;
import io.reprise.cli.terminal.Cells;
import io.reprise.server.client.Link;
import io.reprise.server.client.ServerTarget;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "replay",
        description = "Put dead letters back: some by id at once, or all that match slowly, canary first.",
        footer = {
            "",
            "A paced replay puts a few back first and waits how they fare. It stops itself when they fail again; then the exit",
            "code is 1. Ctrl-C only ends the watching: the replay goes on in the server.",
            "",
            "Examples:",
            "  reprise dead replay 17 --payload '{\"city\":\"Oslo\"}' --why 'a wrong address'",
            "  reprise dead replay --fingerprint 8c1f --rate 5 --canary 3",
            "  reprise dead replay --type ship --patch '{\"country\":\"NO\"}' --dry-run",
            "  reprise dead replay --all --dry-run"
        })
final class DeadReplayCommand extends DeadSelection {

    @Option(names = "--rate", paramLabel = "N", description = "Jobs per second, 0.01 to 500; 1 unless given.")
    @Nullable
    Double rate;

    @Option(names = "--canary", paramLabel = "N", description = "Jobs that go first, alone; 1 unless given.")
    @Nullable
    Integer canary;

    @Option(
            names = "--stop-at",
            paramLabel = "SHARE",
            description = "Share of the last 20 that may fail again; 0.2 unless given.")
    @Nullable
    Double stopAt;

    @Option(names = "--keep-counters", description = "Go on counting attempts, instead of starting at zero.")
    boolean keepCounters;

    @Option(names = "--to-queue", paramLabel = "NAME", description = "Put them into this queue.")
    @Nullable
    String toQueue;

    @Option(names = "--new-id", description = "As new jobs, discarding the dead letters. Only by id.")
    boolean newId;

    @Option(names = "--payload", paramLabel = "JSON", description = "With another payload. Only for one id.")
    @Nullable
    String payload;

    @Option(
            names = "--patch",
            paramLabel = "JSON",
            description =
                    "Change members of each payload: a JSON merge patch; null removes. A filter must name the type.")
    @Nullable
    String patch;

    @Option(names = "--detach", description = "Start the replay and do not watch it. Needs a server.")
    boolean detach;

    DeadReplayCommand(DeadCommand dead) {
        super(dead);
    }

    @Override
    int byId() {
        BadInput.require(
                !dryRun && !detach && rate == null && canary == null && stopAt == null,
                "--rate, --canary, --stop-at, --dry-run and --detach are not for ids, which are put back at once");
        BadInput.require(payload == null || ids.size() == 1, "--payload is for one id only");
        ObjectNode body = body().put("newId", newId);
        if (payload != null) {
            body.set("payload", OptionText.json("--payload", payload));
        }
        patch(body);
        return dead.with(link -> dead.each(ids, id -> {
            JsonNode job = link.post(ServerTarget.of("dead-letters", id, "replay"), body);
            return dead.answer(
                    job,
                    "Job %s is back as job %s in queue %s",
                    id,
                    Cells.text(job.path("id")),
                    Cells.text(job.path("queue")));
        }));
    }

    @Override
    int matching() {
        BadInput.require(!newId && payload == null, "--new-id and --payload are for ids only");
        ObjectNode body = body().put("dryRun", dryRun);
        body.set("filter", filter.json());
        if (rate != null) {
            body.put("rate", rate);
        }
        if (canary != null) {
            body.put("canary", canary);
        }
        if (stopAt != null) {
            body.put("stopAt", stopAt);
        }
        patch(body);
        return dead.with(link -> start(link, body));
    }

    private void patch(ObjectNode body) {
        if (patch != null) {
            body.set("patch", OptionText.json("--patch", patch));
        }
    }

    private int start(Link link, ObjectNode body) {
        JsonNode replay = link.post(ServerTarget.of("replays"), body);
        if (dryRun) {
            JsonNode sample = replay.path("sample");
            return sample.isObject()
                    ? dead.answer(
                            replay,
                            "%s dead letters match. Job %s would have the payload %s, not %s",
                            ReplayWatch.matched(replay),
                            Cells.text(sample.path("job")),
                            sample.path("after"),
                            sample.path("before"))
                    : dead.answer(replay, "%s dead letters match", ReplayWatch.matched(replay));
        }
        if (detach) {
            return dead.answer(
                    replay,
                    "Replay %s of %s dead letters has begun; see 'reprise dead watch'",
                    Cells.text(replay.path("id")),
                    ReplayWatch.matched(replay));
        }
        return new ReplayWatch(dead, link).until(replay);
    }

    private ObjectNode body() {
        ObjectNode body = why.body().put("keepCounters", keepCounters);
        return toQueue == null ? body : body.put("queue", toQueue);
    }
}
