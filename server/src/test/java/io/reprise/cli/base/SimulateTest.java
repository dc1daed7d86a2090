// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.cli.Cli;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

class SimulateTest {

    private static final String SMALL = " --outage 1m --rate 5 --length 3m --capacity 10 --concurrency 40";

    @TempDir
    Path directory;

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "jitter --rows reprise,full         | clients timeMs calls",
                "budget --rows reprise              | failing failPercent deadPercent load",
                "metastable --rows no-retries       | load recoverySeconds goodput amplification",
                "outage --outage 1m --rate 5 --length 3m --rows reprise,river"
                        + " | deadPercent callsPerJob outageCalls peakFactor p50Seconds p99Seconds"
                        + " freshP50Seconds freshP99Seconds",
                "herd --rows reprise,conduit        | peakPerSecond calls p50Seconds p99Seconds",
                "poison --rows reprise,omniq        | killedWorkers ended innocentDead innocentRunTwice p99Seconds",
                "lease                              | leaseSeconds pauses lostPausePercent duplicates duplicatePercent"
                        + " recoverySeconds longestRecoverySeconds",
            })
    void every_experiment_prints_json_and_a_plot(String commandLine, String members) {
        Path plot = directory.resolve("plot.svg");
        Cli run = Cli.line("simulate " + commandLine + " --seed 3 --json --plot " + plot);
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.json().propertyNames()).containsExactly("experiment", "seed", "rows");
        assertThat(run.json().get("experiment").asString())
                .isEqualTo(commandLine.split(" ", 2)[0]);
        assertThat(run.json().get("seed").asLong()).isEqualTo(3);
        List<String> expected = new ArrayList<>(List.of("policy"));
        expected.addAll(List.of(members.split(" ", -1)));
        assertThat(run.json().get("rows")).isNotEmpty().allSatisfy(row -> {
            assertThat(row.propertyNames()).containsExactlyElementsOf(expected);
            assertThat(row.get("policy").isString()).isTrue();
        });
        assertThat(plot).content().startsWith("<svg").contains("polyline");
    }

    @Test
    void a_table_has_a_line_per_row() {
        Cli run = Cli.line("simulate outage --rows reprise,stent" + SMALL);
        assertThat(run.code()).isZero();
        assertThat(run.out().lines().toList())
                .hasSize(4)
                .satisfiesExactly(
                        title -> assertThat(title).isEqualTo("outage, seed 1"),
                        heading -> assertThat(heading).contains("policy", "deadPercent", "p99Seconds"),
                        ours -> assertThat(ours).startsWith("  reprise"),
                        other -> assertThat(other).startsWith("  stent"));
    }

    @Test
    void the_same_seed_prints_the_same_and_another_does_not() {
        String command = "simulate outage --json --rows reprise,mongo" + SMALL;
        String first = Cli.line(command).out();
        assertThat(Cli.line(command).out()).isEqualTo(first);
        assertThat(Cli.line(command + " --seed 2").out()).isNotEqualTo(first);
    }

    @Test
    void a_users_policy_runs_beside_ours_with_control_and_without() throws IOException {
        Path file = directory.resolve("mine.json");
        Files.writeString(file, "{\"backoff\":\"fixed\",\"base\":\"PT5S\",\"jitter\":\"none\",\"maxAttempts\":3}");
        JsonNode rows = Cli.line("simulate outage --json --policy " + file + SMALL)
                .json()
                .get("rows");
        assertThat(rows)
                .extracting(row -> row.get("policy").asString())
                .containsExactly("reprise", "my-mine", "my-mine-policy-only");
        assertThat(rows.get(1).get("deadPercent").asDouble()).isZero();
        assertThat(rows.get(2).get("deadPercent").asDouble()).isGreaterThan(10);
    }

    @Test
    void a_recovery_that_never_comes_is_null() {
        JsonNode rows = Cli.line("simulate metastable --json --rows budget-finagle")
                .json()
                .get("rows");
        assertThat(rows.get(0).get("recoverySeconds").isInt()).isTrue();
        assertThat(rows.get(2).get("recoverySeconds").isNull()).isTrue();
    }

    @Test
    void the_json_of_a_seed_is_exactly_this() {
        assertThat(Cli.line("simulate outage --json --seed 42 --rows jobrunr,stent" + SMALL)
                        .out())
                .isEqualToIgnoringNewLines("""
                        {"experiment":"outage","seed":42,"rows":[
                        {"policy":"jobrunr","deadPercent":0.0,"callsPerJob":2.33,"outageCalls":1003,
                        "peakFactor":4.6,"p50Seconds":0.1,"p99Seconds":120.6,"freshP50Seconds":0.1,"freshP99Seconds":39.2},
                        {"policy":"stent","deadPercent":32.9,"callsPerJob":1.71,"outageCalls":937,
                        "peakFactor":4.0,"p50Seconds":0.1,"p99Seconds":3.2,"freshP50Seconds":0.1,"freshP99Seconds":1.1}]}
                        """);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "outage --outage soon           | --outage       | not a duration",
                "outage --outage 0s             | outage must be | 1.0 to 86,400",
                "outage --outage PT-5M          | outage must be | 1.0 to 86,400",
                "outage --rate 0                | rate must be   | 0.1 to 1,000",
                "outage --rate many             | --rate         | 'many'",
                "outage --length 10s            | length must be | 61.0 to",
                "outage --rate 1000 --length 1d | jobs           | 1,000,000",
                "outage --capacity 0            | capacity must  | 1.0 to",
                "outage --concurrency 1         | concurrency    | 4.0 to",
                "outage --policy none.json      | none.json      | no such file",
                "outage --policy -              | --policy       | ",
                "herd --rows rivver             | --rows         | river",
                "jitter --seed x                | --seed         | 'x'",
                "jitter --policy x              | --policy       | Unknown option",
                "jitter --rows full --plot /no/such/place.svg | --plot | /no/such/place.svg",
                "weather                        | weather        | reprise simulate --help",
            })
    void what_cannot_be_is_refused(String commandLine, String culprit, String help) {
        Cli run = Cli.line("simulate " + commandLine);
        assertThat(run.code()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).contains(culprit).contains(help == null ? "" : help);
    }
}
