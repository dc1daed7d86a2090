// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.reprise.cli.Cli;
import io.reprise.retry.Presets;
import io.reprise.retry.Rounding;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** Every preset draws, through the program, the delays of the system it reproduces. */
class GoldenDelaysTest {

    /** Delays have no finer resolution. */
    private static final double MICROSECOND = 0.001;

    record Vector(String preset, List<double[]> ranges) {
        @Override
        public String toString() {
            return preset;
        }
    }

    static Stream<Vector> vectors() throws IOException {
        try (BufferedReader file = new BufferedReader(new InputStreamReader(
                Objects.requireNonNull(GoldenDelaysTest.class.getResourceAsStream("golden-delays.csv")),
                StandardCharsets.UTF_8))) {
            return file.lines().filter(line -> !line.startsWith("#")).map(GoldenDelaysTest::vector).toList().stream();
        }
    }

    private static Vector vector(String line) {
        List<String> cells = List.of(line.split(",", -1));
        return new Vector(
                cells.get(0),
                cells.stream().skip(1).map(GoldenDelaysTest::range).toList());
    }

    private static double[] range(String cell) {
        return Arrays.stream(cell.split("-", -1))
                .mapToDouble(Double::parseDouble)
                .toArray();
    }

    @Test
    void every_preset_has_a_vector() throws IOException {
        assertThat(vectors().map(Vector::preset)).containsExactlyInAnyOrderElementsOf(Presets.names());
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void a_hundred_thousand_draws_lie_within_and_reach_both_ends(Vector golden) {
        Cli run = Cli.line("policy preview --samples 100000 --seed 7 --retries 10 --json --preset " + golden.preset());
        assertThat(run.code()).isZero();
        assertThat(run.err()).isEmpty();
        JsonNode retries = run.json().get("retries");
        assertThat(retries.size()).isEqualTo(10);
        for (int i = 0; i < 10; i++) {
            check(golden, i, retries.get(i));
        }
    }

    private static void check(Vector golden, int i, JsonNode row) {
        double min = golden.ranges().get(i)[0];
        double max = golden.ranges().get(i)[1];
        double near = min == max ? 0 : (max - min) * 0.001 + resolution(golden.preset());
        assertThat(row.get("n").asInt()).isEqualTo(i + 1);
        assertThat(row.get("minMs").asDouble()).as("least of retry %d", i + 1).isBetween(min, min + near);
        assertThat(row.get("maxMs").asDouble()).as("most of retry %d", i + 1).isBetween(max - near, max);
        assertThat(row.get("meanMs").asDouble()).as("mean of retry %d", i + 1).isBetween(min, max);
    }

    /** Rounding is always down, so the largest delay drawn may be a whole unit below the end of its range. */
    private static double resolution(String preset) {
        Rounding rounding = Presets.get(preset).complete().rounding().orElseThrow();
        return rounding == Rounding.FLOOR_SECONDS ? 1000 : rounding == Rounding.MILLIS ? 1 : 0;
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void the_arithmetic_gives_the_ends(Vector golden) {
        Cli run = Cli.line("policy preview --retries 10 --json --preset " + golden.preset());
        JsonNode retries = run.json().get("retries");
        double sum = 0;
        for (int i = 0; i < 10; i++) {
            double max = golden.ranges().get(i)[1];
            sum += max;
            JsonNode row = retries.get(i);
            assertThat(row.get("minMs").asDouble()).isCloseTo(golden.ranges().get(i)[0], within(MICROSECOND));
            assertThat(row.get("maxMs").asDouble()).isCloseTo(max, within(MICROSECOND));
            assertThat(row.get("cumulativeMaxMs").asDouble()).isCloseTo(sum, within(10 * MICROSECOND));
        }
    }

    @Test
    void the_same_seed_draws_the_same_delays() {
        String command = "policy preview --preset default --samples 50 --json --seed ";
        assertThat(Cli.line(command + "7").out())
                .isEqualTo(Cli.line(command + "7").out());
        assertThat(Cli.line(command + "7").out())
                .isNotEqualTo(Cli.line(command + "8").out());
    }
}
