// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.Why;
import io.reprise.cli.terminal.Cells;
import io.reprise.cli.terminal.Terminal;
import io.reprise.cli.terminal.TextTable;
import io.reprise.server.client.ServerTarget;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "queues",
        description = "Look at queues, pause, resume and limit them. Without a command: list.",
        synopsisSubcommandLabel = "[COMMAND]",
        footer = {"", "Examples:", "  reprise queues", "  reprise queues pause mail --why 'the relay is being moved'"})
final class QueuesCommand extends ListingCommand {

    /** The command that sets the limit of a whole queue. */
    private static final String BY_OPERATOR = "queues limit";

    QueuesCommand(Terminal terminal) {
        super(terminal, "queues");
    }

    @Command(
            name = "list",
            description = "List queues: how deep, how old, whether they run.",
            footer = {"", "Example:", "  reprise queues list"})
    int list() {
        return listAll();
    }

    @Override
    TextTable table() {
        return new TextTable("queue", ">waiting", ">running", ">failed", ">oldest", ">limit", "paused");
    }

    @Override
    Object[] row(JsonNode queue) {
        boolean paused = queue.path("paused").booleanValue(false);
        return new Object[] {
            Cells.text(queue.path("name")),
            Cells.count(queue, "PENDING"),
            Cells.count(queue, "RUNNING"),
            Cells.count(queue, "FAILED"),
            Cells.text(queue.path("oldestAge")),
            Cells.text(queue.path("maxRunning")),
            paused ? "by " + Cells.text(queue.path("pausedBy")) + reason(queue.path("pausedWhy")) : "-"
        };
    }

    private static String reason(JsonNode why) {
        return why.isString() ? ": " + Cells.cut(why) : "";
    }

    @Command(
            name = "groups",
            description = "The groups of a queue with most jobs, and how many jobs started in time.",
            footer = {"", "Example:", "  reprise queues groups mail"})
    int groups(@Parameters(index = "0", paramLabel = "QUEUE", description = "Name of the queue.") String queue) {
        return with(link -> {
            JsonNode now = link.get(ServerTarget.of("queues", queue, "groups"));
            return answer(now, () -> {
                TextTable table = new TextTable("group", ">jobs", ">started", ">late");
                table.add("(all)", "", Cells.text(now.path("started")), Cells.text(now.path("late")));
                now.path("items")
                        .forEach(group -> table.add(
                                Cells.text(group.path("group")),
                                Cells.text(group.path("jobs")),
                                Cells.text(group.path("started")),
                                Cells.text(group.path("late"))));
                table.print(terminal.out());
            });
        });
    }

    @Command(
            name = "limits",
            description = "The limits of a queue's groups and types and its rate, and where each was set.",
            footer = {"", "Example:", "  reprise queues limits mail"})
    int limits(@Parameters(index = "0", paramLabel = "QUEUE", description = "Name of the queue.") String queue) {
        return with(link -> {
            JsonNode now = link.get(ServerTarget.of("queues", queue, "limits"));
            return answer(now, () -> {
                TextTable table = new TextTable("limit of", ">running", ">starts", ">per", ">burst", "set in");
                now.path("items")
                        .forEach(limit -> table.add(
                                whose(limit),
                                limit.path("inOrder").booleanValue(false)
                                        ? "1, in order"
                                        : Cells.text(limit.path("running")),
                                Cells.text(limit.path("starts")),
                                Cells.text(limit.path("per")),
                                Cells.text(limit.path("burst")),
                                place(limit)));
                table.print(terminal.out());
                warnOfUseless(now);
            });
        });
    }

    /** Names the limits of groups and types that are never reached, because fewer jobs of the whole queue may run. */
    private void warnOfUseless(JsonNode limits) {
        limits.path("items")
                .valueStream()
                .filter(limit -> place(limit).equals(BY_OPERATOR))
                .map(limit -> limit.path("running").intValue())
                .forEach(most -> limits.path("items")
                        .valueStream()
                        .filter(limit -> limit.path("running").intValue(0) > most)
                        .forEach(limit -> terminal.err()
                                .println("Warning: at most " + most + " jobs of the queue run at once, so the limit of "
                                        + whose(limit) + " is never reached.")));
    }

    private static String whose(JsonNode limit) {
        String name = Cells.text(limit.path("name"));
        return switch (limit.path("of").stringValue("")) {
            case "GROUP" -> "group " + name;
            case "TYPE" -> "type " + name;
            default -> "the queue";
        };
    }

    private static String place(JsonNode limit) {
        if (limit.path("from").stringValue("").equals("OPERATOR")) {
            return BY_OPERATOR;
        }
        int workers = limit.path("workers").intValue(0);
        return workers == 0 ? "the settings" : "the code of " + workers + (workers == 1 ? " worker" : " workers");
    }

    @Command(
            name = "pause",
            description = "Let no job of these queues be claimed until they are resumed; running ones go on.",
            footer = {"", "Example:", "  reprise queues pause mail --why 'the relay is being moved'"})
    int pause(
            @Parameters(paramLabel = "QUEUE", arity = "1..*", description = "Names of queues.") List<String> queues,
            @Mixin Why why) {
        return with(link -> each(queues, queue -> {
            JsonNode now = link.post(ServerTarget.of("queues", queue, "pause"), why.body());
            return answer(now, "Queue %s is paused; %s jobs wait", queue, Cells.text(now.path("depth")));
        }));
    }

    @Command(
            name = "resume",
            description = "Let jobs of these queues be claimed again.",
            footer = {"", "Example:", "  reprise queues resume mail"})
    int resume(
            @Parameters(paramLabel = "QUEUE", arity = "1..*", description = "Names of queues.") List<String> queues,
            @Mixin Why why) {
        return with(link -> each(queues, queue -> {
            JsonNode now = link.post(ServerTarget.of("queues", queue, "resume"), why.body());
            return answer(now, "Queue %s runs; %s jobs wait", queue, Cells.text(now.path("depth")));
        }));
    }

    @Command(
            name = "limit",
            description = "Bound how many jobs of a queue run at once in the whole fleet, those with needs included.",
            footer = {"", "Examples:", "  reprise queues limit mail 4", "  reprise queues limit mail none"})
    int limit(
            @Parameters(index = "0", paramLabel = "QUEUE", description = "Name of the queue.") String queue,
            @Parameters(index = "1", paramLabel = "N", description = "A number from 1, or none.") String limit,
            @Mixin Why why) {
        ObjectNode body = why.body();
        if (limit.equals("none")) {
            body.putNull("maxRunning");
        } else {
            BadInput.require(limit.matches("[1-9]\\d{0,8}"), "N must be a number from 1, or none, not '" + limit + "'");
            body.put("maxRunning", Integer.parseInt(limit));
        }
        return with(link -> {
            JsonNode now = link.call("PUT", ServerTarget.of("queues", queue), body);
            int code = answer(now, "Queue %s: limit %s", queue, limit);
            warnOfUseless(forWarnings(link, ServerTarget.of("queues", queue, "limits")));
            return code;
        });
    }
}
