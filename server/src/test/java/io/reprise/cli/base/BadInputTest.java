// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.cli.Cli;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a user can get wrong: exit code 2, nothing on standard output, and a message that names the culprit. */
class BadInputTest {

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "--preset condui              | --preset         | did you mean conduit",
                "--preset nonsense            | --preset         | known: default",
                "--max-attempts 0             | --max-attempts   | 1 to 1000000",
                "--max-attempts many          | --max-attempts   | unlimited",
                "--max-attempts 1000001       | --max-attempts   | 1 to 1000000",
                "--max-retries -1             | --max-retries    | 0 to 999999",
                "--max-retries x              | --max-retries    | 'x'",
                "--max-attempts 3 --max-retries 2 | --max-retries | one of them",
                "--base 5                     | --base           | not a duration",
                "--base -5s                   | --base           | not a duration",
                "--base PT-5S                 | --base           | PT0S to",
                "--base 10s5h                 | --base           | not a duration",
                "--base 99999999999d          | --base           | ",
                "--factor 0.5                 | --factor         | 1.0 to 1000.0",
                "--factor NaN                 | --factor         | 1.0 to 1000.0",
                "--factor two                 | --factor         | 'two'",
                "--offset 2                   | --offset         | 0 to 1",
                "--shape square               | --shape          | exponential, linear, fixed, table",
                "--shape table                | --table          | needs its delays",
                "--shape fixed --step 1s      | --step           | linear",
                "--shape linear --delay 1s    | --delay          | fixed",
                "--shape linear --factor 2    | --factor         | exponential",
                "--shape fixed --base 2s      | --base           | exponential",
                "--preset weave --base 2s     | --base           | table",
                "--shape fixed --table 1s     | --table          | table",
                "--table 1s,soon              | --table          | 'soon'",
                "--step PT-1S                 | --step           | PT0S to",
                "--delay PT-1S                | --delay          | PT0S to",
                "--cap 0s                     | --cap            | PT0.000000001S to",
                "--cap nothing                | --cap            | not a duration",
                "--min-delay PT-1S            | --min-delay      | PT0S to",
                "--cap 1s --min-delay 2s      | --min-delay      | at most the cap",
                "--jitter some                | --jitter         | proportional:<0..1>",
                "--jitter proportional:2      | --jitter         | 0.0 to 1.0",
                "--jitter proportional:x      | --jitter         | proportional:<0..1>",
                "--table 1s --jitter decorrelated | --jitter     | not with a table",
                "--cap-order first            | --cap-order      | cap-then-jitter",
                "--rounding up                | --rounding       | floor-seconds",
                "--deadline 0s                | --deadline       | PT0.000000001S to",
                "--deadline soon              | --deadline       | not a duration",
                "--retries -1                 | --retries        | 0 to 10000",
                "--retries 10001              | --retries        | 0 to 10000",
                "--samples 0                  | --samples        | 1 to 1000000",
                "--samples 1000000 --retries 10000 | retries times samples | at most",
                "--seed 7                     | --seed           | --samples",
                "--samples 10 --seed x        | --seed           | 'x'",
                "--file no-such-file.json     | no-such-file.json | no such file",
                "--frobnicate                 | --frobnicate     | ",
                "--base                       | --base           | ",
            })
    void preview_refuses(String options, String culprit, String hint) {
        Cli run = Cli.line("policy preview " + options);
        refused(run, culprit, hint);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "polcy                         | polcy      | policy",
                "demmo                         | demmo      | demo",
                "policy prevew                 | prevew     | preview",
                "policy                        | subcommand | presets, preview, lint",
                "schema                        | subcommand | print",
                "policy lint                   | FILE       | ",
                "policy lint no-such-file.json | no-such-file.json | no such file",
                "policy lint a.json b.json     | b.json     | ",
                "schema print                  | --dialect  | ",
                "schema print --dialect oracle | --dialect  | postgresql",
                "demo --seconds 0              | --seconds  | 1 to 86400",
                "demo --seconds soon           | --seconds  | 'soon'",
                "demo --db no/such/directory/x.db | --db    | does not exist",
                "demo --forever yes            | yes        | ",
            })
    void commands_refuse(String commandLine, String culprit, String hint) {
        refused(Cli.line(commandLine), culprit, hint);
    }

    private static void refused(Cli run, String culprit, String hint) {
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).startsWith("reprise: ").contains(culprit).doesNotContain("\tat ");
        if (hint != null) {
            assertThat(run.err()).contains(hint);
        }
    }

    @Test
    void a_file_that_is_no_policy_is_refused_with_the_field(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("p.json"), "{\"factr\": 2}");
        refused(Cli.run("policy", "preview", "--file", file.toString()), "factr", "factor");
        Files.write(file, new byte[] {'{', (byte) 0xff, '}'});
        refused(Cli.run("policy", "preview", "--file", file.toString()), "p.json", "not UTF-8");
        refused(Cli.run("policy", "preview", "--file", directory.toString()), "directory", null);
    }

    @Test
    void a_directory_is_no_database(@TempDir Path directory) {
        refused(Cli.run("demo", "--db", directory.toString()), "--db", "is a directory");
    }

    @Test
    void a_stack_trace_is_shown_only_when_asked_for() {
        Cli run = Cli.line("policy preview --factor 0.5 --verbose");
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("\tat io.reprise");
    }
}
