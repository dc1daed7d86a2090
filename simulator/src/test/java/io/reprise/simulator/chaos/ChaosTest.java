// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.testkit.TestRun;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;

/** Thousands of disasters, and nothing lost. Run on with {@code -Dreprise.chaos.seeds=100000}. */
class ChaosTest {

    private static final long SEEDS = Long.getLong("reprise.chaos.seeds", TestRun.size(500, 2_000));

    @Test
    void the_same_seed_gives_the_same_trace_to_the_last_byte() {
        for (long seed = 1; seed <= 20; seed++) {
            String trace = Chaos.trace(seed);
            assertThat(trace).isNotBlank();
            assertThat(Chaos.trace(seed)).isEqualTo(trace);
        }
        assertThat(Chaos.trace(1)).isNotEqualTo(Chaos.trace(2));
    }

    @Test
    void no_rule_is_broken_whatever_happens() {
        Chaos.Report report = Chaos.run(1, SEEDS, done -> {});
        assertThat(report.failure().map(ChaosFailure::toString)).isEmpty();
        assertThat(report.seeds()).isEqualTo(SEEDS);
        assertThat(report.faults().keySet()).containsExactlyElementsOf(EnumSet.allOf(Fault.class));
    }

    @Test
    void a_failure_is_told_in_few_words_with_the_command_that_shows_it_again() {
        Chaos.Report report = Chaos.run(1, 20, done -> {}, Bugs.reclaimByAWorkersClock());
        ChaosFailure failure = report.failure().orElseThrow();
        assertThat(failure.violations()).allMatch(text -> text.startsWith("stolen lease: Job "));
        assertThat(failure.command()).isEqualTo("reprise simulate chaos --seed " + failure.seed());
        ChaosPlan whole = ChaosPlan.of(failure.seed());
        ChaosOutcome smallest = new ChaosShrinker(Bugs.reclaimByAWorkersClock()).smallest(whole);
        assertThat(smallest.plan().jobs().size() + smallest.plan().faults().size())
                .isLessThan(whole.jobs().size() + whole.faults().size());
        assertThat(failure.toString()).contains("taken over", failure.command());
    }
}
