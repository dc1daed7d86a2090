// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.cli.Cli;
import org.junit.jupiter.api.Test;

class ChaosTest {

    @Test
    void one_seed_is_run_again_with_the_same_result() {
        Cli run = Cli.line("simulate chaos --seed 42 --json");
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.json().propertyNames())
                .containsExactly("experiment", "seeds", "events", "virtualSeconds", "faults", "failure");
        assertThat(run.json().get("seeds").asLong()).isEqualTo(1);
        assertThat(run.json().get("events").asLong()).isPositive();
        assertThat(run.json().get("failure").isNull()).isTrue();
        assertThat(Cli.line("simulate chaos --seed 42 --json").out()).isEqualTo(run.out());
    }

    @Test
    void many_seeds_come_with_the_faults_they_had() {
        Cli run = Cli.line("simulate chaos --seeds 30");
        assertThat(run.code()).isZero();
        assertThat(run.out()).startsWith("30 seeds, ").contains("no rule broken", "crash", "call-delayed");
    }

    @Test
    void no_seeds_are_not_enough() {
        Cli run = Cli.line("simulate chaos --seeds 0");
        assertThat(run.code()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(run.err()).contains("--seeds");
    }
}
