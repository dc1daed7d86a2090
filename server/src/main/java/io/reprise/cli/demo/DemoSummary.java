// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.demo;

import io.reprise.cli.demo.Scoreboard.Line;
import io.reprise.cli.terminal.TextTable;
import io.reprise.insight.JobEvent;
import io.reprise.job.JobState;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The results of a demo.
 *
 * @param tally number of events of each kind
 */
record DemoSummary(Duration length, Collection<Line> lines, Map<JobEvent.Kind, Integer> tally) {

    DemoSummary {
        lines = List.copyOf(lines);
        tally = Map.copyOf(tally);
    }

    void print(PrintWriter out, @Nullable Path db) {
        out.println();
        out.printf(Locale.ROOT, "Summary after %.1f s%n", length.toNanos() / 1e9);
        out.println("  jobs  " + jobs(lines));
        out.println("  runs  " + runs());
        List<Duration> times = timesToSuccess(lines);
        if (!times.isEmpty()) {
            out.println("  time to success  median " + tenths(median(times)) + ", longest "
                    + tenths(times.get(times.size() - 1)));
        }
        out.println();
        types().print(out);
        printDead(out);
        out.println();
        out.println("Try next:");
        out.println("  reprise policy preview --preset default");
        out.println("      when would the retries of your own jobs come?");
        out.println("  reprise demo --forever --db " + (db == null ? "demo.db" : db));
        out.println("      stop it with Ctrl-C and start it again: nothing is lost");
        if (db != null) {
            out.println("  reprise jobs --store sqlite:" + db);
            out.println("      look at its jobs");
        }
        out.flush();
    }

    private static String jobs(Collection<Line> jobs) {
        long ended = count(jobs, line -> line.state().isTerminal());
        return jobs.size() + " = " + count(jobs, JobState.SUCCEEDED) + " succeeded + " + count(jobs, JobState.FAILED)
                + " dead letters + " + count(jobs, JobState.CANCELLED) + " cancelled + " + (jobs.size() - ended)
                + " waiting";
    }

    /** Every run ends in exactly one of these ways. */
    private String runs() {
        int started = tallied(JobEvent.Kind.STARTED);
        int told = tallied(JobEvent.Kind.SUCCEEDED)
                + tallied(JobEvent.Kind.RETRY_SCHEDULED)
                + tallied(JobEvent.Kind.FAILED)
                + tallied(JobEvent.Kind.SNOOZED);
        return started + " = " + tallied(JobEvent.Kind.SUCCEEDED) + " succeeded + "
                + tallied(JobEvent.Kind.RETRY_SCHEDULED) + " failed and retried + " + tallied(JobEvent.Kind.FAILED)
                + " failed for good + " + tallied(JobEvent.Kind.SNOOZED) + " snoozed"
                + (started == told ? "" : " + " + (started - told) + " interrupted");
    }

    private TextTable types() {
        Map<String, List<Line>> byType =
                lines.stream().collect(Collectors.groupingBy(Line::type, TreeMap::new, Collectors.toList()));
        TextTable table = new TextTable(
                "type", ">jobs", ">succeeded", ">dead", ">waiting", ">runs", ">retries", ">snoozes", ">median");
        byType.forEach((type, jobs) -> {
            List<Duration> times = timesToSuccess(jobs);
            table.add(
                    type,
                    jobs.size(),
                    count(jobs, JobState.SUCCEEDED),
                    count(jobs, JobState.FAILED),
                    count(jobs, line -> !line.state().isTerminal()),
                    jobs.stream().mapToInt(Line::runs).sum(),
                    jobs.stream().mapToInt(Line::retries).sum(),
                    jobs.stream().mapToInt(Line::snoozes).sum(),
                    times.isEmpty() ? "-" : tenths(median(times)));
        });
        return table;
    }

    private void printDead(PrintWriter out) {
        List<Line> dead =
                lines.stream().filter(line -> line.state() == JobState.FAILED).toList();
        if (dead.isEmpty()) {
            return;
        }
        out.println();
        out.println("Dead letters by error");
        Map<String, List<Line>> groups =
                dead.stream().collect(Collectors.groupingBy(DemoSummary::group, TreeMap::new, Collectors.toList()));
        TextTable table = new TextTable(">count", "type", "reason", "error", "fingerprint");
        groups.forEach((group, jobs) -> {
            JobEvent last = jobs.get(0).last();
            table.add(
                    jobs.size(),
                    jobs.get(0).type(),
                    String.valueOf(jobs.get(0).failReason()),
                    last == null ? "" : DemoRow.cause(last.failure(), last.decision()),
                    last == null || last.failure() == null ? "" : last.failure().fingerprint());
        });
        table.print(out);
    }

    /** Returns the key of a group: one type, one fail reason and one fingerprint. */
    private static String group(Line line) {
        JobEvent last = line.last();
        String fingerprint =
                last == null || last.failure() == null ? "" : last.failure().fingerprint();
        return line.type() + " " + line.failReason() + " " + fingerprint;
    }

    /** Returns the times, sorted. */
    private static List<Duration> timesToSuccess(Collection<Line> jobs) {
        return jobs.stream()
                .filter(line -> line.state() == JobState.SUCCEEDED)
                .flatMap(line -> line.last() == null
                        ? java.util.stream.Stream.empty()
                        : java.util.stream.Stream.of(
                                Duration.between(line.since(), line.last().at())))
                .sorted()
                .toList();
    }

    private static Duration median(List<Duration> sorted) {
        return sorted.get((sorted.size() - 1) / 2);
    }

    private static String tenths(Duration duration) {
        return String.format(Locale.ROOT, "%.2f s", Math.max(0, duration.toNanos() / 1e9));
    }

    private int tallied(JobEvent.Kind kind) {
        return tally.getOrDefault(kind, 0);
    }

    private static long count(Collection<Line> jobs, JobState state) {
        return count(jobs, line -> line.state() == state);
    }

    private static long count(Collection<Line> jobs, Predicate<Line> which) {
        return jobs.stream().filter(which).count();
    }
}
