// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.cli.Cli;
import org.junit.jupiter.api.Test;

class RecoveryTest {

    @Test
    void one_world_is_shown_by_the_second() {
        Cli run = Cli.line("simulate recovery --seed 3");
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).startsWith("World 3 ").contains("calls/s", "parked", "phase", "liveness: ");
        assertThat(Cli.line("simulate recovery --seed 3").out()).isEqualTo(run.out());
    }

    @Test
    void one_world_is_shown_as_json() {
        Cli run = Cli.line("simulate recovery --seed 3 --json");
        assertThat(run.json().propertyNames()).containsExactly("experiment", "seed", "setting", "results", "trace");
    }

    @Test
    void many_worlds_come_with_how_often_each_property_was_checked() {
        Cli run = Cli.line("simulate recovery --worlds 3 --seed 3");
        assertThat(run.out()).startsWith("3 worlds, ").contains("property", "checked", "time to 90", "Not checked:");
        Cli json = Cli.line("simulate recovery --worlds 3 --seed 3 --json");
        assertThat(json.json().propertyNames())
                .containsExactly("experiment", "worlds", "jobs", "calls", "properties", "broken", "failure");
        assertThat(json.code()).isEqualTo(run.code());
        assertThat(json.json().get("failure").isNull()).isEqualTo(run.code() == ExitCode.OK);
    }

    @Test
    void no_worlds_are_not_enough() {
        Cli run = Cli.line("simulate recovery --worlds 0");
        assertThat(run.code()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(run.err()).contains("--worlds");
    }
}
