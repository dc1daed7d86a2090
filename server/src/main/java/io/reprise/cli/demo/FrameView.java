// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.demo;

import io.reprise.cli.demo.Scoreboard.Line;
import io.reprise.cli.terminal.Terminal;
import io.reprise.cli.terminal.TextTable;
import io.reprise.job.JobState;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Locale;

/** Draws the whole demo as a picture on the alternate screen and redraws it in place. */
final class FrameView implements DemoView {

    private static final String ENTER = "\u001b[?1049h\u001b[?25l";
    private static final String LEAVE = "\u001b[?25h\u001b[?1049l";
    private static final String HOME = "\u001b[H";
    private static final String REST_OF_LINE = "\u001b[K";
    private static final String REST_OF_SCREEN = "\u001b[J";
    private static final int KEPT_ROWS = 200;
    private static final int DEAD_SHOWN = 4;
    private static final int BAR = 10;
    private static final int WIDE = 110;
    private static final int FRAMES_PER_SIZE = 10;

    private final Terminal terminal;
    private final boolean colours = System.getenv("NO_COLOR") == null;
    private final Deque<DemoRow> rows = new ArrayDeque<>();
    private Terminal.Size size = Terminal.Size.USUAL;
    private int frames;

    FrameView(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public void show(Moment moment) {
        for (DemoRow row : moment.rows()) {
            rows.addFirst(row);
            if (rows.size() > KEPT_ROWS) {
                rows.removeLast();
            }
        }
        if (frames++ % FRAMES_PER_SIZE == 0) {
            size = Terminal.Size.now();
        }
        StringBuilder screen = new StringBuilder(frames == 1 ? ENTER : "").append(HOME);
        String separator = "";
        for (String line : lines(moment)) {
            screen.append(separator).append(line).append(REST_OF_LINE);
            separator = "\r\n";
        }
        terminal.out().print(screen.append(REST_OF_SCREEN));
        terminal.out().flush();
    }

    @Override
    public void close() {
        if (frames > 0) {
            terminal.out().print(LEAVE);
            terminal.out().flush();
        }
    }

    private List<String> lines(Moment moment) {
        List<String> lines = new ArrayList<>();
        lines.add(styled("1", " Reprise demo   " + clock(moment)));
        lines.add("");
        lines.addAll(queues(moment.lines()));
        List<String> dead = dead(moment.lines());
        lines.add("");
        lines.add(styled("1", " What happened, latest first"));
        int room = size.height() - lines.size() - dead.size();
        rows.stream().limit(Math.max(0, room)).forEach(row -> lines.add(row(row)));
        while (lines.size() < size.height() - dead.size()) {
            lines.add("");
        }
        lines.addAll(dead);
        return lines.subList(0, Math.min(lines.size(), size.height()));
    }

    private String clock(Moment moment) {
        Duration length = moment.length();
        String at = String.format(Locale.ROOT, "%4.1f s", moment.elapsed().toNanos() / 1e9);
        return length == null
                ? at + "   Ctrl-C ends it"
                : at + " of " + length.toSeconds() + " s   Ctrl-C ends it early";
    }

    private List<String> queues(Collection<Line> jobs) {
        TextTable table = new TextTable("queue", ">waiting", ">running", ">succeeded", ">dead", "");
        for (String queue : DemoJobs.QUEUES) {
            List<Line> here =
                    jobs.stream().filter(line -> line.queue().equals(queue)).toList();
            long succeeded = count(here, JobState.SUCCEEDED);
            long dead = count(here, JobState.FAILED);
            table.add(
                    queue.substring(queue.indexOf('/') + 1),
                    count(here, JobState.PENDING),
                    count(here, JobState.RUNNING),
                    succeeded,
                    dead,
                    share(here.size(), succeeded, dead));
        }
        return table.lines().stream().map(line -> cut(" " + line)).toList();
    }

    private String share(int all, long succeeded, long dead) {
        if (all == 0) {
            return "";
        }
        int width = 2 * BAR;
        int done = (int) (width * succeeded / all);
        int lost = (int) Math.ceil((double) width * dead / all);
        lost = Math.min(lost, width - done);
        return full().repeat(done) + "x".repeat(lost) + light().repeat(width - done - lost);
    }

    private List<String> dead(Collection<Line> jobs) {
        List<Line> dead =
                jobs.stream().filter(line -> line.state() == JobState.FAILED).toList();
        List<String> lines = new ArrayList<>();
        lines.add("");
        lines.add(styled("1", " Dead letters: " + dead.size()));
        dead.stream()
                .skip(Math.max(0, dead.size() - DEAD_SHOWN))
                .forEach(line -> lines.add(styled("31", cut(" " + deadLetter(line)))));
        return lines;
    }

    private static String deadLetter(Line line) {
        var last = line.last();
        String cause = last == null ? "" : DemoRow.cause(last.failure(), last.decision());
        String runs = line.runs() == 1 ? "1 run" : line.runs() + " runs";
        return String.format("%-18s %s after %s, %s", line.type() + " #" + line.id(), line.failReason(), runs, cause);
    }

    private String row(DemoRow row) {
        DemoRow.Wait wait = row.pause();
        boolean narrow = size.width() < WIDE;
        String text = wait == null ? row.text() : String.format("%s %-16s %s", bar(wait), wait.brief(), row.text());
        String attempt = narrow ? row.attempt().replace("attempt ", "") : row.attempt();
        String line = String.format(
                Locale.ROOT,
                narrow ? " %5.1f %s %-18s %-7s %s" : " %5.1f %s %-18s %-15s %s",
                row.at().toNanos() / 1e9,
                symbol(row.mark()),
                row.job(),
                attempt,
                text);
        return styled(colour(row.mark()), cut(line));
    }

    /** The full bar is the delay before jitter. The solid part is the delay after jitter. */
    private String bar(DemoRow.Wait wait) {
        int width = size.width() < WIDE ? BAR / 2 : BAR;
        double of = Math.max(wait.raw().toNanos(), wait.delay().toNanos());
        int solid = of == 0 ? 0 : (int) Math.round(width * wait.delay().toNanos() / of);
        return full().repeat(solid) + light().repeat(width - solid);
    }

    private String symbol(DemoRow.Mark mark) {
        boolean unicode = terminal.unicode();
        return switch (mark) {
            case QUEUED -> "+";
            case SUCCEEDED -> unicode ? "✔" : "=";
            case RETRY -> unicode ? "↻" : "~";
            case DEAD -> unicode ? "✘" : "x";
            case SNOOZED -> "z";
            case OTHER -> unicode ? "·" : "-";
        };
    }

    private static String colour(DemoRow.Mark mark) {
        return switch (mark) {
            case SUCCEEDED -> "32";
            case RETRY -> "33";
            case DEAD -> "31";
            case SNOOZED -> "36";
            case QUEUED, OTHER -> "2";
        };
    }

    private String full() {
        return terminal.unicode() ? "█" : "#";
    }

    private String light() {
        return terminal.unicode() ? "░" : ".";
    }

    private String styled(String style, String text) {
        return colours ? "\u001b[" + style + "m" + text + "\u001b[0m" : text;
    }

    private String cut(String line) {
        return line.length() <= size.width() ? line : line.substring(0, size.width());
    }

    private static long count(Collection<Line> lines, JobState state) {
        return lines.stream().filter(line -> line.state() == state).count();
    }
}
