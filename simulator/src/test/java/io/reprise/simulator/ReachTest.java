// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.simulator.experiment.JitterExperiment;
import io.reprise.simulator.experiment.MetastableExperiment;
import io.reprise.simulator.experiment.OutageExperiment;
import io.reprise.simulator.experiment.OutageExperiment.Setting;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the default settings must reach, in the experiments as users run them. */
class ReachTest {

    @ParameterizedTest
    @ValueSource(longs = {1, 101})
    void an_outage_kills_no_job_and_costs_neither_calls_nor_a_flood(long seed) {
        Report report = new OutageExperiment(Setting.DEFAULT, List.of(Candidate.REPRISE)).run(seed);
        ReportRow row = report.row("reprise");
        double floor = Setting.DEFAULT.outage().toSeconds();
        assertThat(row.number("deadPercent")).isZero();
        assertThat(row.number("callsPerJob")).isLessThanOrEqualTo(1.05);
        assertThat(row.number("outageCalls")).isLessThanOrEqualTo(500);
        assertThat(row.number("peakFactor")).isLessThanOrEqualTo(2.5);
        assertThat(row.number("p99Seconds")).isLessThanOrEqualTo(1.10 * floor);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 101})
    void a_stalled_server_recovers_no_later_than_with_the_best_of_the_others(long seed) {
        // Those that recover at all; the others need not be waited for.
        MetastableExperiment experiment = new MetastableExperiment(List.of(), false);
        experiment.keep(List.of("reprise", "no-retries", "budget-10-percent", "budget-aws-2016", "budget-aws-2026"));
        Map<Double, List<ReportRow>> byLoad =
                experiment.run(seed).rows().stream().collect(Collectors.groupingBy(row -> row.number("load")));
        assertThat(byLoad.keySet()).containsExactlyInAnyOrder(0.5, 0.8, 0.9);
        byLoad.forEach((load, rows) -> {
            ReportRow ours = rows.get(0);
            assertThat(ours.policy()).isEqualTo("reprise");
            for (ReportRow row : rows) {
                assertThat(ours.number("recoverySeconds"))
                        .as("load %s, %s", load, row.policy())
                        .isLessThanOrEqualTo(row.number("recoverySeconds"));
            }
            assertThat(ours.number("goodput")).as("load %s", load).isGreaterThanOrEqualTo(0.95);
        });
    }

    @Test
    void the_default_spreads_as_well_as_full_jitter() {
        Map<Double, List<ReportRow>> byClients = new JitterExperiment()
                .run(1).rows().stream().collect(Collectors.groupingBy(row -> row.number("clients")));
        byClients.values().forEach(rows -> {
            ReportRow ours = rows.stream()
                    .filter(row -> row.policy().equals("reprise"))
                    .findFirst()
                    .orElseThrow();
            ReportRow full = rows.stream()
                    .filter(row -> row.policy().equals("full"))
                    .findFirst()
                    .orElseThrow();
            assertThat(ours.number("timeMs")).isBetween(0.95 * full.number("timeMs"), 1.05 * full.number("timeMs"));
            assertThat(ours.number("calls")).isBetween(0.95 * full.number("calls"), 1.05 * full.number("calls"));
        });
    }
}
