// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.Why;
import io.reprise.cli.terminal.Cells;
import io.reprise.cli.terminal.Terminal;
import io.reprise.cli.terminal.TextTable;
import io.reprise.server.client.ServerTarget;
import io.reprise.server.http.Json;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "schedules",
        description = "Look at schedules, create, pause, trigger and remove them. Without a command: list.",
        synopsisSubcommandLabel = "[COMMAND]",
        footer = {"", "Examples:", "  reprise schedules", "  reprise schedules create nightly report --cron '0 3 * * *'"
        })
final class SchedulesCommand extends ListingCommand {

    SchedulesCommand(Terminal terminal) {
        super(terminal, "schedules");
    }

    @Command(
            name = "list",
            description = "List schedules and when they run next.",
            footer = {"", "Example:", "  reprise schedules list"})
    int list() {
        return listAll();
    }

    @Override
    TextTable table() {
        return new TextTable("schedule", "rule", "zone", "next", "type", "queue", ">last job");
    }

    @Override
    Object[] row(JsonNode schedule) {
        return new Object[] {
            Cells.text(schedule.path("name")),
            rule(schedule),
            Cells.text(schedule.path("zone")),
            next(schedule),
            Cells.text(schedule.path("job").path("type")),
            Cells.text(schedule.path("job").path("queue")),
            Cells.text(schedule.path("lastJob"))
        };
    }

    private static String rule(JsonNode schedule) {
        if (schedule.path("cron").isString()) {
            return Cells.text(schedule.path("cron"));
        }
        return schedule.path("every").isString()
                ? "every " + Cells.text(schedule.path("every"))
                : Cells.text(schedule.path("fixedDelay")) + " after the last";
    }

    private static String next(JsonNode schedule) {
        if (schedule.path("nextAt").isNull()) {
            return "ended";
        }
        return schedule.path("paused").booleanValue(false) ? "paused" : Cells.time(schedule.path("nextAt"));
    }

    @Command(
            name = "create",
            description = "Create a schedule, or change the one of this name.",
            footer = {
                "",
                "Examples:",
                "  reprise schedules create nightly report --cron '0 3 * * *' --zone Europe/Paris",
                "  reprise schedules create check monitor --every 5m --max-retries 3",
                "  reprise schedules create sync mirror --fixed-delay 5m --end 2027-01-01T00:00Z"
            })
    int create(
            @Parameters(index = "0", paramLabel = "NAME", description = "Name of the schedule.") String name,
            @Parameters(index = "1", paramLabel = "TYPE", description = "Type of its jobs.") String type,
            @Option(names = "--cron", paramLabel = "EXPR", description = "Five or six fields; seconds first if six.")
                    @Nullable
                    String cron,
            @Mixin Interval interval,
            @Option(names = "--zone", paramLabel = "ZONE", description = "Such as Europe/Paris; UTC unless given.")
                    @Nullable
                    String zone,
            @Option(names = "--missed", paramLabel = "RULE", description = "ONCE, ALL or SKIP; ONCE unless given.")
                    @Nullable
                    String missed,
            @Option(names = "--overlap", description = "Fire while the last job is unfinished.") boolean overlap,
            @Mixin JobOptions options) {
        BadInput.require(
                Stream.of(cron, interval.every, interval.fixedDelay)
                                .filter(Objects::nonNull)
                                .count()
                        == 1,
                "Give exactly one of --cron, --every and --fixed-delay");
        ObjectNode body = Json.object().put("overlap", overlap);
        put(body, "cron", cron);
        interval.put(body);
        put(body, "zone", zone);
        put(body, "missed", missed);
        body.set("job", options.json(type));
        return with(link -> {
            JsonNode now = link.call("PUT", ServerTarget.of("schedules", name), body);
            return now.path("nextAt").isNull()
                    ? answer(now, "Schedule %s has ended and does not run", name)
                    : answer(now, "Schedule %s runs next at %s", name, Cells.time(now.path("nextAt")));
        });
    }

    /** Intervals, and from when to when a schedule fires. */
    static final class Interval {
        @Option(names = "--every", paramLabel = "TIME", description = "An interval, such as 5m.")
        @Nullable
        String every;

        @Option(
                names = "--fixed-delay",
                paramLabel = "TIME",
                description = "A time such as 5m from the end of one job to the next firing.")
        @Nullable
        String fixedDelay;

        @Option(names = "--first-now", description = "Fire as soon as it is stored.")
        boolean firstNow;

        @Option(
                names = "--start",
                paramLabel = "INSTANT",
                description = "Fire not before, such as 2027-01-01T00:00:00Z.")
        @Nullable
        String start;

        @Option(names = "--end", paramLabel = "INSTANT", description = "Fire not after.")
        @Nullable
        String end;

        @Option(names = "--jitter", paramLabel = "TIME", description = "Let each job become due up to this much later.")
        @Nullable
        String jitter;

        void put(ObjectNode body) {
            SchedulesCommand.put(body, "every", every);
            SchedulesCommand.put(body, "fixedDelay", fixedDelay);
            SchedulesCommand.put(body, "start", start);
            SchedulesCommand.put(body, "end", end);
            SchedulesCommand.put(body, "jitter", jitter);
            if (firstNow) {
                body.put("firstNow", true);
            }
        }
    }

    private static void put(ObjectNode body, String name, @Nullable String value) {
        if (value != null) {
            body.put(name, value);
        }
    }

    @Command(
            name = "pause",
            description = "Let schedules not fire.",
            footer = {"", "Example:", "  reprise schedules pause nightly"})
    int pause(
            @Parameters(paramLabel = "NAME", arity = "1..*", description = "Names of schedules.") List<String> names,
            @Mixin Why why) {
        return with(link -> each(
                names,
                name -> answer(
                        link.post(ServerTarget.of("schedules", name, "pause"), why.body()),
                        "Schedule %s is paused",
                        name)));
    }

    @Command(
            name = "resume",
            description = "Let schedules fire again; what they missed is treated by their own rule.",
            footer = {"", "Example:", "  reprise schedules resume nightly"})
    int resume(
            @Parameters(paramLabel = "NAME", arity = "1..*", description = "Names of schedules.") List<String> names,
            @Mixin Why why) {
        return with(link -> each(names, name -> {
            JsonNode now = link.post(ServerTarget.of("schedules", name, "resume"), why.body());
            return answer(now, "Schedule %s runs next at %s", name, Cells.time(now.path("nextAt")));
        }));
    }

    @Command(
            name = "trigger",
            description = "Enqueue the job of a schedule now; its next run stays as it is.",
            footer = {"", "Example:", "  reprise schedules trigger nightly"})
    int trigger(@Parameters(paramLabel = "NAME", description = "Name of the schedule.") String name, @Mixin Why why) {
        return with(link -> {
            JsonNode made = link.post(ServerTarget.of("schedules", name, "trigger"), why.body());
            return answer(made, "Schedule %s: job %s is enqueued", name, Cells.text(made.path("id")));
        });
    }

    @Command(
            name = "remove",
            description = "Remove schedules; their jobs stay.",
            footer = {"", "Example:", "  reprise schedules remove nightly"})
    int remove(
            @Parameters(paramLabel = "NAME", arity = "1..*", description = "Names of schedules.") List<String> names) {
        return with(link -> each(names, name -> {
            link.call("DELETE", ServerTarget.of("schedules", name), null);
            return answer(Json.object().put("removed", name), "Schedule %s is removed", name);
        }));
    }
}
