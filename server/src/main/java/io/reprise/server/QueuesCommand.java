// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import io.reprise.server.client.Target;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "queues",
        description = "Look at queues, pause, resume and limit them. Without a command: list.",
        synopsisSubcommandLabel = "[COMMAND]",
        footer = {"", "Examples:", "  reprise queues", "  reprise queues pause mail --why 'the relay is being moved'"})
final class QueuesCommand extends LinkedCommand {

    QueuesCommand(Terminal terminal) {
        super(terminal);
    }

    @Override
    public Integer call() {
        return list();
    }

    @Command(
            name = "list",
            description = "List queues: how deep, how old, whether they run.",
            footer = {"", "Example:", "  reprise queues list"})
    int list() {
        return with(link -> {
            JsonNode page = link.get(Target.of("queues"));
            return answer(page, () -> print(page));
        });
    }

    private void print(JsonNode page) {
        Table table = new Table("queue", ">waiting", ">running", ">failed", ">oldest", ">limit", "paused");
        for (JsonNode queue : page.path("items")) {
            JsonNode counts = queue.path("counts");
            boolean paused = queue.path("paused").booleanValue(false);
            table.add(
                    Cells.text(queue.path("name")),
                    Cells.text(queue.path("depth")),
                    Cells.text(counts.path("RUNNING")),
                    Cells.text(counts.path("FAILED")),
                    Cells.text(queue.path("oldestAge")),
                    Cells.text(queue.path("maxRunning")),
                    paused ? "by " + Cells.text(queue.path("pausedBy")) + reason(queue.path("pausedWhy")) : "-");
        }
        table.print(terminal.out());
    }

    private static String reason(JsonNode why) {
        return why.isString() ? ": " + Cells.cut(why) : "";
    }

    @Command(
            name = "pause",
            description = "Let no job of these queues be claimed until they are resumed; running ones go on.",
            footer = {"", "Example:", "  reprise queues pause mail --why 'the relay is being moved'"})
    int pause(
            @Parameters(paramLabel = "QUEUE", arity = "1..*", description = "Names of queues.") List<String> queues,
            @Option(names = "--why", paramLabel = "TEXT", description = "For the audit log.") @Nullable String why) {
        return with(link -> each(queues, queue -> {
            JsonNode now = link.post(Target.of("queues", queue, "pause"), why(why));
            return answer(now, "Queue %s is paused; %s jobs wait", queue, Cells.text(now.path("depth")));
        }));
    }

    @Command(
            name = "resume",
            description = "Let jobs of these queues be claimed again.",
            footer = {"", "Example:", "  reprise queues resume mail"})
    int resume(
            @Parameters(paramLabel = "QUEUE", arity = "1..*", description = "Names of queues.") List<String> queues,
            @Option(names = "--why", paramLabel = "TEXT", description = "For the audit log.") @Nullable String why) {
        return with(link -> each(queues, queue -> {
            JsonNode now = link.post(Target.of("queues", queue, "resume"), why(why));
            return answer(now, "Queue %s runs; %s jobs wait", queue, Cells.text(now.path("depth")));
        }));
    }

    @Command(
            name = "limit",
            description = "Bound how many jobs of a queue run at once in the whole fleet.",
            footer = {"", "Examples:", "  reprise queues limit mail 4", "  reprise queues limit mail none"})
    int limit(
            @Parameters(index = "0", paramLabel = "QUEUE", description = "Name of the queue.") String queue,
            @Parameters(index = "1", paramLabel = "N", description = "A number from 1, or none.") String limit,
            @Option(names = "--why", paramLabel = "TEXT", description = "For the audit log.") @Nullable String why) {
        ObjectNode body = why(why);
        if (limit.equals("none")) {
            body.putNull("maxRunning");
        } else {
            BadInput.require(limit.matches("[1-9]\\d{0,8}"), "N must be a number from 1, or none, not '" + limit + "'");
            body.put("maxRunning", Integer.parseInt(limit));
        }
        return with(link -> {
            JsonNode now = link.call("PUT", Target.of("queues", queue), body);
            return answer(now, "Queue %s: limit %s", queue, limit);
        });
    }
}
