// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.Why;
import io.reprise.cli.terminal.Cells;
import io.reprise.cli.terminal.Terminal;
import io.reprise.cli.terminal.TextTable;
import io.reprise.server.client.ServerTarget;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "dead",
        description = "Look at dead letters, put them back, or let them go. Without a command: groups.",
        synopsisSubcommandLabel = "[COMMAND]",
        footer = {
            "",
            "Examples:",
            "  reprise dead                                       what has failed, by error",
            "  reprise dead replay --fingerprint 8c1f --rate 5    one group, 5 per second",
            "  reprise dead discard 17 --why 'sent by hand'"
        })
final class DeadCommand extends LinkedCommand {

    private static final int DEFAULT_LIMIT = 50;

    DeadCommand(Terminal terminal) {
        super(terminal);
    }

    static CommandLine line(Terminal terminal) {
        DeadCommand dead = new DeadCommand(terminal);
        return new CommandLine(dead)
                .addSubcommand(new DeadReplayCommand(dead))
                .addSubcommand(new DeadDiscardCommand(dead));
    }

    @Override
    public Integer call() {
        return groups(new JobFilter(), DEFAULT_LIMIT, null);
    }

    @Command(
            name = "list",
            description = "List dead letters, newest first.",
            footer = {"", "Example:", "  reprise dead list --queue mail --since 1d"})
    int list(@Mixin JobFilter filter, @Mixin PageOptions page) {
        return with(link -> {
            ObjectNode all = page.of(link, filter.on(ServerTarget.of("dead-letters")));
            return answer(all, () -> JobTexts.table(all, terminal.out()));
        });
    }

    @Command(
            name = "groups",
            description = "List dead letters by what they failed of, the largest group first.",
            footer = {"", "Example:", "  reprise dead groups --queue mail"})
    int groups(
            @Mixin JobFilter filter,
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "50",
                            description = "So many groups at most, up to 1000; 50 unless given.")
                    int limit,
            @Option(
                            names = "--cursor",
                            paramLabel = "TEXT",
                            description = "Go on with older ones, after the page that ended with this 'next'.")
                    @Nullable
                    String cursor) {
        return with(link -> {
            JsonNode page = link.get(filter.on(ServerTarget.of("dead-letters", "groups"))
                    .with("limit", limit)
                    .with("cursor", cursor));
            return answer(page, () -> printGroups(page));
        });
    }

    private void printGroups(JsonNode page) {
        String next = page.path("next").stringValue(null);
        if (next != null) {
            terminal.err()
                    .println("Counted among 10,000 dead letters; older ones are grouped with --cursor " + next + ".");
        }
        if (page.path("items").isEmpty()) {
            terminal.out().println(next == null ? "No dead letters." : "None of these matches.");
            return;
        }
        TextTable table = new TextTable(">count", "fingerprint", "type", "first", "last", "error");
        for (JsonNode group : page.path("items")) {
            table.add(
                    Cells.text(group.path("count")),
                    Cells.text(group.path("fingerprint")),
                    Cells.text(group.path("latest").path("type")),
                    Cells.time(group.path("firstAt")),
                    Cells.time(group.path("lastAt")),
                    Cells.cut(group.path("error").path("message")));
        }
        table.print(terminal.out());
    }

    @Command(
            name = "replays",
            description = "List paced replays, under way or over.",
            footer = {"", "Example:", "  reprise dead replays"})
    int replays() {
        return with(link -> {
            JsonNode page = pages(link, ServerTarget.of("replays"), DEFAULT_LIMIT, null);
            return answer(page, () -> {
                TextTable table =
                        new TextTable("replay", "state", ">matched", ">back", ">succeeded", ">failed", "by", "note");
                page.path("items")
                        .forEach(replay -> table.add(
                                Cells.text(replay.path("id")),
                                Cells.text(replay.path("state")),
                                Cells.text(replay.path("matched")),
                                Cells.text(replay.path("replayed")),
                                Cells.text(replay.path("succeeded")),
                                Cells.text(replay.path("failed")),
                                Cells.text(replay.path("by")),
                                Cells.cut(replay.path("note"))));
                table.print(terminal.out());
            });
        });
    }

    @Command(
            name = "watch",
            description = "Watch a paced replay until it ends; the exit code is 1 if it stopped itself.",
            footer = {"", "Example:", "  reprise dead watch 5d7c4a10-9a3e-4b2f-8a57-0d5f3b0c6e11"})
    int watch(@Parameters(paramLabel = "REPLAY", description = "Id of the replay.") String replay) {
        return with(link -> new ReplayWatch(this, link).until(link.get(ServerTarget.of("replays", replay))));
    }

    @Command(
            name = "cancel",
            description = "End a paced replay: no more jobs are put back; those that are back stay.",
            footer = {"", "Example:", "  reprise dead cancel 5d7c4a10-9a3e-4b2f-8a57-0d5f3b0c6e11"})
    int cancel(@Parameters(paramLabel = "REPLAY", description = "Id of the replay.") String replay, @Mixin Why why) {
        return with(link -> {
            JsonNode now = link.post(ServerTarget.of("replays", replay, "cancel"), why.body());
            return answer(now, "Replay %s is cancelled; %s jobs are back", replay, Cells.text(now.path("replayed")));
        });
    }
}
