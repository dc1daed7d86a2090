// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.ExitCode;
import io.reprise.cli.terminal.Cells;
import io.reprise.cli.terminal.CtrlC;
import io.reprise.cli.terminal.ProgressLine;
import io.reprise.server.client.Link;
import io.reprise.server.client.ServerTarget;
import java.time.Duration;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** Shows the progress of a paced replay until it ends. */
final class ReplayWatch {

    private static final Set<String> OVER = Set.of("DONE", "STOPPED", "CANCELLED");
    private static final Duration LOOK = Duration.ofMillis(500);

    private final DeadCommand dead;
    private final Link link;

    ReplayWatch(DeadCommand dead, Link link) {
        this.dead = dead;
        this.link = link;
    }

    /** Returns the number of matches, with "at least" if not all were counted. */
    static String matched(JsonNode replay) {
        boolean more = replay.path("matchedAtLeast").booleanValue(false);
        return (more ? "at least " : "") + Cells.text(replay.path("matched"));
    }

    int until(JsonNode first) {
        String id = Cells.text(first.path("id"));
        dead.terminal.err().println("Replay " + id + ": " + matched(first) + " dead letters match");
        JsonNode replay = first;
        try (CtrlC ctrlC = CtrlC.listen();
                ProgressLine progress = new ProgressLine(
                        dead.terminal, "put back", first.path("matched").longValue(0))) {
            while (!OVER.contains(state(replay))) {
                progress.at(
                        replay.path("replayed").longValue(0),
                        ", " + replay.path("succeeded") + " succeeded, " + replay.path("failed") + " failed, "
                                + state(replay));
                if (ctrlC.await(LOOK)) {
                    return left(id, replay);
                }
                replay = link.get(ServerTarget.of("replays", id));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return left(id, replay);
        }
        dead.answer(
                replay,
                "Replay %s: %s%s. %s put back, %s succeeded, %s failed again, %s refused",
                id,
                state(replay),
                replay.path("note").isString() ? ", " + Cells.text(replay.path("note")) : "",
                replay.path("replayed"),
                replay.path("succeeded"),
                replay.path("failed"),
                replay.path("refused"));
        return state(replay).equals("DONE") && replay.path("failed").longValue(0) == 0 ? ExitCode.OK : ExitCode.FINDING;
    }

    private int left(String id, JsonNode replay) {
        dead.terminal
                .err()
                .println("Replay " + id + " is " + state(replay)
                        + " and goes on where a server runs. 'reprise dead watch " + id
                        + "' watches it again, 'reprise dead cancel " + id + "' ends it.");
        return ExitCode.FINDING;
    }

    private static String state(JsonNode replay) {
        return replay.path("state").stringValue("");
    }
}
