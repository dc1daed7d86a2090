// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.terminal.Cells;
import io.reprise.cli.terminal.Terminal;
import io.reprise.server.client.ServerTarget;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

@Command(
        name = "stats",
        description = "Jobs by state, what retries cost and saved, and alerts.",
        footer = {"", "Example:", "  reprise stats --since 7d"})
final class StatsCommand extends LinkedCommand {

    private static final int LATE_SECONDS = 30;

    @Option(names = "--since", paramLabel = "TIME", description = "How far back costs are counted; 1d unless given.")
    @Nullable
    String since;

    StatsCommand(Terminal terminal) {
        super(terminal);
    }

    @Override
    public Integer call() {
        return with(link -> {
            JsonNode stats = link.get(ServerTarget.of("stats").with("since", since));
            return answer(stats, () -> print(stats));
        });
    }

    private void print(JsonNode stats) {
        terminal.out()
                .println(stats.path("counts").properties().stream()
                        .map(count -> Cells.count(stats, count.getKey()) + " " + count.getKey())
                        .collect(Collectors.joining(", ")));
        terminal.out()
                .println(counted(stats.path("queues"), "queue") + ", " + counted(stats.path("workers"), "worker"));
        if (stats.path("costs").isObject()) {
            terminal.out().println(Cells.text(stats.path("costs").path("sentence")));
        }
        stats.path("upkeep").forEach(this::printBehind);
        stats.path("alerts").forEach(alert -> terminal.out().println("alert: " + Cells.text(alert.path("message"))));
    }

    /** Prints upkeep only if it is later than upkeep takes to notice work. */
    private void printBehind(JsonNode piece) {
        if (piece.path("seconds").doubleValue() >= LATE_SECONDS) {
            terminal.out()
                    .printf(
                            Locale.ROOT,
                            "upkeep: %s behind by %.0f s, %d rows%n",
                            piece.path("piece").stringValue(),
                            piece.path("seconds").doubleValue(),
                            piece.path("rows").longValue());
        }
    }

    private static String counted(JsonNode count, String what) {
        return Cells.text(count) + " " + what + (count.intValue() == 1 ? "" : "s");
    }
}
