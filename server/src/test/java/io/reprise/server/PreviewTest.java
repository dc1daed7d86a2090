// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.cli.Cli;
import io.reprise.retry.Presets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PreviewTest {

    @Test
    void json_has_exactly_the_documented_shape() {
        Cli run = Cli.line("policy preview --preset conduit-webhook --max-attempts 3 --jitter equal --json");
        assertThat(run.out().strip())
                .isEqualTo("{\"name\":\"conduit-webhook\",\"maxAttempts\":3,\"retries\":["
                        + "{\"n\":1,\"rawMs\":2000,\"minMs\":1000,\"maxMs\":2000,\"meanMs\":1500,\"cumulativeMaxMs\":2000},"
                        + "{\"n\":2,\"rawMs\":4000,\"minMs\":2000,\"maxMs\":4000,\"meanMs\":3000,\"cumulativeMaxMs\":6000}],"
                        + "\"branches\":[],\"warnings\":[]}");
    }

    @Test
    void each_branch_is_shown(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(
                directory.resolve("policy.json"),
                "{\"branches\":[{\"on\":{\"classes\":[\"THROTTLED\"]},\"backoff\":\"fixed\",\"base\":\"2h\","
                        + "\"maxAttempts\":null},{\"on\":{\"codes\":[\"no\"]},\"never\":true}]}");
        Cli text = Cli.run("policy", "preview", "--file", file.toString(), "--retries", "2");
        assertThat(text.out()).contains("on THROTTLED: no limit of attempts").contains("on code no: never retried");
        Cli json = Cli.run("policy", "preview", "--file", file.toString(), "--retries", "2", "--json");
        assertThat(json.json()
                        .get("branches")
                        .get(0)
                        .get("retries")
                        .get(1)
                        .get("rawMs")
                        .intValue())
                .isEqualTo(7_200_000);
    }

    @Test
    void unlimited_attempts_are_null_and_ten_rows_are_shown() {
        Cli run = Cli.line("policy preview --preset omniq-unlimited --json");
        assertThat(run.json().get("maxAttempts").isNull()).isTrue();
        assertThat(run.json().get("retries").size()).isEqualTo(10);
    }

    @Test
    void a_fraction_of_a_millisecond_is_shown() {
        Cli run = Cli.line("policy preview --shape fixed --delay 1.5ms --jitter none --max-retries 1 --json");
        assertThat(run.json().at("/retries/0/rawMs").asDouble()).isEqualTo(1.5);
    }

    @Test
    void huge_delays_are_plain_numbers() {
        Cli run = Cli.line("policy preview --shape fixed --delay 36500d --cap none --max-retries 2 --json");
        assertThat(run.out()).contains("\"rawMs\":3153600000000,").doesNotContainPattern("\\d[eE][+-]?\\d+[,}]");
    }

    @Test
    void every_preset_previews_without_samples_in_text() {
        for (String preset : Presets.names()) {
            Cli run = Cli.line("policy preview --preset " + preset);
            assertThat(run.code()).as(preset).isZero();
            assertThat(run.out()).contains(preset + ": ");
        }
    }

    @Test
    void warnings_are_shown_with_their_codes() {
        Cli json = Cli.line("policy preview --preset conduit --retries 10 --json");
        assertThat(json.json().at("/warnings/0/code").asString()).isEqualTo("constant-at-cap");
        Cli text = Cli.line("policy preview --preset conduit --retries 10");
        assertThat(text.out()).contains("[constant-at-cap]").contains("exactly 1h");
        assertThat(text.code()).isZero();
    }

    @Test
    void rows_beyond_the_limit_are_marked() {
        assertThat(Cli.line("policy preview --preset stent --retries 3").out())
                .contains("\n      2 ")
                .contains("\n     *3 ")
                .contains("beyond the limit");
    }

    /** Each override changes the first or third delay, or the limit, as it says. */
    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "--base 3s                              | 3000  | 12000",
                "--factor 3                             | 1000  | 9000",
                "--offset 1                             | 2000  | 8000",
                "--shape linear --step 5s               | 5000  | 15000",
                "--step 5s                              | 5000  | 15000",
                "--shape linear                         | 1000  | 3000",
                "--shape fixed --delay 7s               | 7000  | 7000",
                "--delay PT7S                           | 7000  | 7000",
                "--shape fixed                          | 1000  | 1000",
                "--shape table --table 1s,1m30s,500ms   | 1000  | 500",
                "--table 2h                             | 7200000 | 7200000",
                "--cap 2s                               | 1000  | 2000",
                "--shape EXPONENTIAL --base 1d          | 86400000 | 345600000",
            })
    void an_override_changes_the_curve(String options, double first, double third) {
        Cli run = Cli.line("policy preview --jitter none --cap none --max-attempts 4 --preset omniq --json "
                + options.replaceAll("(?=--cap)", " "));
        if (options.contains("--cap")) {
            run = Cli.line("policy preview --jitter none --max-attempts 4 --preset omniq --json " + options);
        }
        assertThat(run.err()).isEmpty();
        assertThat(run.json().at("/retries/0/rawMs").asDouble()).isEqualTo(first);
        assertThat(run.json().at("/retries/2/rawMs").asDouble()).isEqualTo(third);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "--jitter none              | 1000 | 1000",
                "--jitter full              | 0    | 1000",
                "--jitter equal             | 500  | 1000",
                "--jitter proportional:0.5  | 500  | 1500",
                "--jitter decorrelated      | 1000 | 3000",
                "--jitter base-to-raw       | 1000 | 1000",
                "--jitter full --min-delay 200ms | 200 | 1000",
                "--cap 900ms --cap-order jitter-then-cap | 750 | 900",
                "--cap 1s --cap-order cap-then-jitter    | 750 | 1250",
                "--cap 1s --cap-order CAP_JITTER_CAP     | 750 | 1000",
                "--rounding floor-seconds   | 0 | 1000",
                "--base 1.0009s --jitter none --rounding millis | 1000 | 1000",
            })
    void an_override_changes_the_range(String options, double min, double max) {
        Cli run = Cli.line("policy preview --preset omniq --json " + options);
        assertThat(run.err()).isEmpty();
        assertThat(run.json().at("/retries/0/minMs").asDouble()).isEqualTo(min);
        assertThat(run.json().at("/retries/0/maxMs").asDouble()).isEqualTo(max);
    }

    @Test
    void limits_are_overridden() {
        assertThat(Cli.line("policy preview --preset omniq --max-retries 0 --json")
                        .json()
                        .get("retries")
                        .size())
                .isZero();
        assertThat(Cli.line("policy preview --preset omniq --max-attempts 7 --json")
                        .json()
                        .get("maxAttempts")
                        .asInt())
                .isEqualTo(7);
        assertThat(Cli.line("policy preview --preset omniq --max-attempts unlimited --json")
                        .out())
                .contains("\"maxAttempts\":null");
        assertThat(Cli.line("policy preview --preset omniq --deadline 5s").out())
                .contains("deadline 5s")
                .contains("[deadline-before-worst-case]");
        assertThat(Cli.line("policy preview --preset default --deadline none").out())
                .contains("deadline none");
    }

    @Test
    void a_file_stands_above_the_preset_and_options_above_the_file(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("mine.json");
        Files.writeString(file, "{\"base\":\"PT3S\",\"maxAttempts\":3,\"jitter\":\"none\"}");
        Cli alone = Cli.run("policy", "preview", "--file", file.toString(), "--json");
        assertThat(alone.json().get("name").asString()).isEqualTo("mine");
        assertThat(alone.json().at("/retries/0/rawMs").asInt()).isEqualTo(3000);
        Cli layered = Cli.run(
                "policy", "preview", "--preset", "conduit", "--file", file.toString(), "--max-attempts", "5", "--json");
        assertThat(layered.json().at("/retries/3/rawMs").asInt()).isEqualTo(24_000);
    }

    @Test
    void a_policy_can_come_through_a_pipe() {
        Cli run = Cli.runWith("{\"maxAttempts\":2}", "policy", "preview", "--file", "-", "--json");
        assertThat(run.json().get("name").asString()).isEqualTo("stdin");
        assertThat(run.json().get("maxAttempts").asInt()).isEqualTo(2);
    }

    @Test
    void presets_as_json_can_be_read_back_as_files() {
        Cli presets = Cli.line("policy presets --json");
        assertThat(presets.json().size()).isEqualTo(Presets.names().size());
        presets.json().forEach(preset -> {
            String name = preset.get("name").asString();
            Cli file = Cli.runWith(
                    preset.get("policy").toString(), "policy", "preview", "--file", "-", "--retries", "9", "--json");
            Cli named = Cli.line("policy preview --retries 9 --json --preset " + name);
            assertThat(file.json().get("retries"))
                    .as(name)
                    .isEqualTo(named.json().get("retries"));
        });
    }

    @Test
    void the_table_of_presets_names_and_describes_each() {
        String table = Cli.line("policy presets").out();
        Presets.names()
                .forEach(name -> assertThat(table).contains("\n" + name + " ").contains(Presets.describe(name)));
    }
}
