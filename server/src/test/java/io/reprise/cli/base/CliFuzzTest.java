// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.cli.Cli;
import io.reprise.retry.Presets;
import io.reprise.server.config.Durations;
import io.reprise.testkit.fuzz.Fuzz;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whatever is typed, the program does it or says what is wrong with it. */
class CliFuzzTest {

    private static final List<String> COMMANDS = List.of(
            "policy preview --preset conduit-webhook --max-attempts 3 --jitter equal --json",
            "policy preview --shape exponential --base 1s --factor 2 --offset 1 --cap 10m --max-retries 5",
            "policy preview --shape table --table 1s,2m,3h --min-delay 1s --deadline 1d --retries 3",
            "policy preview --shape linear --step 5s --jitter proportional:0.2 --rounding seconds --samples 3 --seed 7",
            "policy presets --json",
            "policy lint - --json",
            "schema print --dialect sqlite",
            "schema print --dialect postgresql",
            "--help",
            "policy --help",
            "--version");

    @Test
    void arguments_are_obeyed_or_refused() {
        Fuzz.words(1_500, COMMANDS, words -> {
            Cli run = Cli.run(words.toArray(String[]::new));
            assertThat(run.err()).doesNotContain("internal error");
            if (run.code() == ExitCode.BAD_INPUT) {
                assertThat(run.out() + run.err()).isNotBlank();
                assertThat(run.err()).hasSizeLessThan(2_000);
            }
        });
    }

    @Test
    void a_policy_file_is_linted_or_refused() {
        List<String> files =
                Presets.names().stream().map(name -> Presets.get(name).toJson()).toList();
        Fuzz.texts(500, files, text -> {
            Cli run = Cli.runWith(text, "policy", "lint", "-");
            assertThat(run.err()).doesNotContain("internal error");
            assertThat(run.out() + run.err()).isNotBlank();
        });
    }

    @Test
    void a_duration_is_read_or_refused_and_what_was_read_can_be_written() {
        Fuzz.texts(20_000, List.of("500ms", "1m30s", "1.5h", "PT1M30S", "2d", "0"), text -> {
            Duration duration;
            try {
                duration = Durations.parse(text);
            } catch (IllegalArgumentException e) {
                Fuzz.requireClear(e);
                return;
            }
            if (duration.isNegative()) {
                // Read, so that the option that gets it can say what it wants; never shown.
                return;
            }
            assertThat(Durations.text(duration)).isNotBlank();
            assertThat(Durations.millis(duration)).isNotNegative();
        });
    }
}
