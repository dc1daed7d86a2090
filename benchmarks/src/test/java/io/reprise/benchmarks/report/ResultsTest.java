// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.benchmarks.measure.StoreKind;
import org.junit.jupiter.api.Test;

class ResultsTest {

    private final Results results = new Results(StoreKind.POSTGRESQL);

    @Test
    void json_has_the_median_the_rounds_and_the_share_of_raw() {
        rates("reprise", 50, 60, 40);
        rates("raw", 100, 80, 100);

        assertThat(results.json())
                .isEqualTo("{\"results\":["
                        + "{\"system\":\"reprise\",\"store\":\"postgresql\",\"workload\":\"W2\",\"rate\":50.0,"
                        + "\"rounds\":[50.0,60.0,40.0],\"ofRaw\":0.5},"
                        + "{\"system\":\"raw\",\"store\":\"postgresql\",\"workload\":\"W2\",\"rate\":100.0,"
                        + "\"rounds\":[100.0,80.0,100.0],\"ofRaw\":1.0}]}");
    }

    @Test
    void json_of_a_latency_has_both_percentiles() {
        results.add("reprise", 1, Figure.latency("W3", 1.5, 6));

        assertThat(results.json())
                .isEqualTo("{\"results\":[{\"system\":\"reprise\",\"store\":\"postgresql\",\"workload\":\"W3\","
                        + "\"p50Ms\":1.5,\"p99Ms\":6.0,\"rounds\":[{\"p50Ms\":1.5,\"p99Ms\":6.0}]}]}");
    }

    @Test
    void a_system_that_cannot_says_why_in_both_forms() {
        results.cannot("quartz", "W6", "keeps no finished jobs");

        assertThat(results.json())
                .isEqualTo("{\"results\":[{\"system\":\"quartz\",\"store\":\"postgresql\",\"workload\":\"W6\","
                        + "\"cannot\":\"keeps no finished jobs\"}]}");
        assertThat(FigureTable.of(results)).contains("keeps no finished jobs");
    }

    @Test
    void ratios_are_taken_within_a_round() {
        rates("reprise", 50, 5, 500);
        rates("raw", 100, 10, 1000);

        Series reprise = results.find("W2", "reprise").orElseThrow();

        assertThat(results.ofRaw(reprise)).contains(0.5);
    }

    @Test
    void the_table_says_how_far_ahead_reprise_is() {
        rates("reprise", 5000);
        rates("quartz", 200);

        assertThat(FigureTable.of(results)).contains("25.0 x");
    }

    @Test
    void the_plot_is_an_svg_with_a_bar_for_each_system() {
        rates("reprise", 70);
        rates("raw", 100);
        rates("quartz", 1);

        assertThat(Plot.svg(results))
                .startsWith("<svg ")
                .endsWith("</svg>\n")
                .contains(">reprise<")
                .contains(">quartz<")
                .contains("70 %");
    }

    private void rates(String system, double... rates) {
        for (int round = 0; round < rates.length; round++) {
            results.add(system, round, Figure.of("W2", Figure.RATE, rates[round]));
        }
    }
}
