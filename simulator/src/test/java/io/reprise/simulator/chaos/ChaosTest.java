// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ChaosTest {

    @Test
    void the_same_seed_gives_the_same_trace_to_the_last_byte() {
        for (long seed = 1; seed <= 20; seed++) {
            assertThat(Chaos.trace(seed)).isEqualTo(Chaos.trace(seed));
        }
    }

    @Test
    void seeds() {
        long start = System.nanoTime();
        Chaos.Report report = Chaos.run(1, Long.getLong("chaos.seeds", 200), done -> {});
        System.out.println(report.seeds() + " seeds in " + (System.nanoTime() - start) / 1e9 + " s, " + report.events()
                + " events " + report.faults());
        report.failure().ifPresent(System.out::println);
        assertThat(report.failure()).isEmpty();
    }
}
