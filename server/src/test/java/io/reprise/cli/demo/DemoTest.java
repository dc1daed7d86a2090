// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.demo;

import static io.reprise.testkit.servers.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.cli.Cli;
import io.reprise.cli.base.Stores;
import io.reprise.job.Job;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The demo from end to end on SQLite, at several times its usual speed. */
class DemoTest {

    private static final Pattern JOBS = Pattern.compile(
            "jobs {2}(\\d+) = (\\d+) succeeded \\+ (\\d+) dead letters \\+ (\\d+) cancelled \\+ (\\d+) waiting");
    private static final Pattern RUNS =
            Pattern.compile("runs {2}(\\d+) = (\\d+) succeeded \\+ (\\d+) failed and retried"
                    + " \\+ (\\d+) failed for good \\+ (\\d+) snoozed(?: \\+ (\\d+) interrupted)?");

    @Test
    void the_figures_add_up_and_agree_with_the_database(@TempDir Path directory) {
        Deque<Path> files = new ArrayDeque<>();
        Cli run = showing(List.of("ok        ", "PERMANENT: "), 4, seconds -> {
            files.add(directory.resolve(seconds + ".db"));
            String file = files.getLast().toString();
            return Cli.run("demo", "--plain", "--seconds", Integer.toString(seconds), "--db", file);
        });
        Path file = files.getLast();
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.out()).doesNotContain("\u001b");

        Matcher jobs = find(JOBS, run.out());
        assertThat(sum(jobs)).isEqualTo(number(jobs, 1));
        Matcher runs = find(RUNS, run.out());
        assertThat(sum(runs)).isEqualTo(number(runs, 1));

        List<Job> stored = stored(file);
        assertThat(stored).hasSize(number(jobs, 1));
        assertThat(count(stored, JobState.SUCCEEDED)).isEqualTo(number(jobs, 2)).isPositive();
        assertThat(count(stored, JobState.FAILED)).isEqualTo(number(jobs, 3)).isPositive();
        assertThat(count(stored, JobState.RUNNING)).isZero();
        assertThat(count(stored, JobState.PENDING)).isEqualTo(number(jobs, 5));
        int counted = stored.stream().mapToInt(Job::attempts).sum();
        int snoozed = stored.stream().mapToInt(job -> job.counts().snoozes()).sum();
        int interrupted =
                stored.stream().mapToInt(job -> job.counts().interruptions()).sum();
        assertThat(counted + snoozed + interrupted).isEqualTo(number(runs, 1));
        assertThat(snoozed).isEqualTo(number(runs, 5));
    }

    @Test
    void every_kind_of_ending_is_shown() {
        List<String> all = List.of(
                "retry     send-email",
                "asked for by Retry-After",
                "timeout: the image server did not answer",
                "PERMANENT: http-404: feed not found",
                "EXHAUSTED: http-502",
                "asked to be called later",
                "unique key",
                "ok        check-stock",
                "attempt 1 of 8",
                "Dead letters by error",
                "Try next:");
        Cli run = showing(all, 6, seconds -> Cli.line("demo --plain --seconds " + seconds));
        assertThat(run.out()).contains(all);
    }

    /** On a machine that stands still now and then a short demo may not come to all of it: then a longer one. */
    private static Cli showing(List<String> texts, int seconds, IntFunction<Cli> demo) {
        Cli run = demo.apply(seconds);
        return seconds > 60 || texts.stream().allMatch(run.out()::contains) ? run : showing(texts, 3 * seconds, demo);
    }

    @Test
    void nothing_is_left_behind_without_a_file_of_ones_own() throws IOException {
        Set<Path> before = demosInTemp();
        Cli.line("demo --plain --seconds 1");
        Set<Path> left = demosInTemp();
        left.removeAll(before);
        // Others may be at it, too; theirs are gone when they are.
        until(() -> left.stream().noneMatch(Files::exists));
    }

    @Test
    void a_database_with_other_jobs_is_left_alone(@TempDir Path directory) {
        Path file = directory.resolve("real.db");
        try (Reprise reprise = Reprise.builder().store(Stores.sqlite(file)).start()) {
            reprise.enqueue(JobType.of("real-work", String.class).job("x").queue("orders"));
        }
        Cli run = Cli.run("demo", "--plain", "--seconds", "1", "--db", file.toString());
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("--db").contains("'orders'");
        assertThat(stored(file)).singleElement().extracting(Job::state).isEqualTo(JobState.PENDING);
    }

    @Test
    void a_file_that_is_no_database_is_refused(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("notes.txt"), "dear diary, ".repeat(500));
        Cli run = Cli.run("demo", "--plain", "--seconds", "1", "--db", file.toString());
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("notes.txt").doesNotContain("\tat ");
        assertThat(Files.readString(file)).startsWith("dear diary");
    }

    @Test
    void what_waits_at_the_end_goes_on_with_the_next_demo(@TempDir Path directory) {
        List<String> all = List.of("1 job of an earlier demo", "ok        check-stock #1 ");
        Cli run = showing(all, 1, seconds -> {
            Path file = directory.resolve(seconds + ".db");
            try (Reprise reprise = Reprise.builder().store(Stores.sqlite(file)).start()) {
                reprise.enqueue(JobType.of("check-stock", DemoJobs.Report.class)
                        .job(new DemoJobs.Report("left over"))
                        .queue(DemoJobs.REPORTS));
            }
            return Cli.run("demo", "--plain", "--seconds", Integer.toString(seconds), "--db", file.toString());
        });
        assertThat(run.out()).contains(all);
    }

    private static List<Job> stored(Path file) {
        try (Reprise reprise = Reprise.builder().store(Stores.sqlite(file)).start()) {
            return reprise.find(JobQuery.all().limit(JobQuery.MAX_LIMIT)).items();
        }
    }

    private static int count(List<Job> jobs, JobState state) {
        return (int) jobs.stream().filter(job -> job.state() == state).count();
    }

    private static Matcher find(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        assertThat(matcher.find()).as(text).isTrue();
        return matcher;
    }

    /** Of all groups but the first. */
    private static int sum(Matcher matcher) {
        int sum = 0;
        for (int group = 2; group <= matcher.groupCount(); group++) {
            sum += matcher.group(group) == null ? 0 : number(matcher, group);
        }
        return sum;
    }

    private static int number(Matcher matcher, int group) {
        return Integer.parseInt(matcher.group(group));
    }

    private static Set<Path> demosInTemp() throws IOException {
        try (var files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return files.filter(file -> String.valueOf(file.getFileName()).startsWith("reprise-demo"))
                    .collect(Collectors.toSet());
        }
    }
}
