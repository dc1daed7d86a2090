// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.experiment;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.retry.Jitter;
import io.reprise.retry.LossRule;
import io.reprise.retry.RetryPolicy;
import io.reprise.simulator.Candidate;
import io.reprise.simulator.Report;
import io.reprise.simulator.ReportRow;
import io.reprise.simulator.experiment.OutageExperiment.Setting;
import java.io.ByteArrayInputStream;
import java.time.Duration;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;

/** What the experiments say of policies about which one can know it without them. */
class ExperimentTest {

    private static final RetryPolicy STUBBORN =
            RetryPolicy.fixed(Duration.ofSeconds(1)).jitter(Jitter.none()).maxAttempts(1_000);

    private static final Setting MINUTE = new Setting(Duration.ofMinutes(1), 5, Duration.ofMinutes(4), 100, 40);

    private static ReportRow outage(RetryPolicy policy) {
        return new OutageExperiment(MINUTE, List.of(new Candidate("it", policy, false)))
                .run(3)
                .row("it");
    }

    @Test
    void without_retries_an_outage_kills_what_arrives_in_it() {
        ReportRow row = outage(RetryPolicy.none());
        assertThat(row.number("deadPercent")).isBetween(20.0, 30.0);
        assertThat(row.number("callsPerJob")).isEqualTo(1);
    }

    @Test
    void a_retry_each_second_kills_nothing_and_costs_a_call_each_second() {
        ReportRow row = outage(STUBBORN);
        assertThat(row.number("deadPercent")).isZero();
        // 5 jobs a second for a minute, each calling for half of it on average.
        assertThat(row.number("outageCalls")).isBetween(7_500.0, 10_500.0);
        assertThat(row.number("p99Seconds")).isBetween(50.0, 62.0);
    }

    @Test
    void a_herd_without_jitter_comes_back_within_a_second() {
        Candidate same =
                new Candidate("same", RetryPolicy.fixed(Duration.ofSeconds(30)).jitter(Jitter.none()), false);
        Candidate spread = new Candidate("spread", RetryPolicy.fixed(Duration.ofSeconds(30)), false);
        HerdExperiment herd = new HerdExperiment(1_000, List.of(same, spread));
        herd.keep(List.of("same", "spread"));
        Report report = herd.run(1);
        assertThat(report.row("same").number("peakPerSecond")).isGreaterThan(900);
        assertThat(report.row("spread").number("peakPerSecond")).isLessThan(80);
    }

    @Test
    void a_poison_job_kills_as_many_workers_as_its_rule_allows() {
        RetryPolicy twice = RetryPolicy.unset().losses(new LossRule(false, true, 3));
        PoisonExperiment poison = new PoisonExperiment(60, 900, List.of(new Candidate("three", twice, false)));
        poison.keep(List.of("reprise", "three", "never-counted"));
        Report report = poison.run(1);
        assertThat(report.row("reprise").number("killedWorkers")).isEqualTo(LossRule.DEFAULT.max());
        assertThat(report.row("three").number("killedWorkers")).isEqualTo(3);
        assertThat(report.row("never-counted").values()).containsEntry("ended", false);
        assertThat(report.rows())
                .allSatisfy(row -> assertThat(row.number("innocentDead")).isZero());
    }

    @Test
    void a_longer_lease_recovers_later_and_is_lost_less_often() {
        Report report = new LeaseExperiment(List.of(5, 30), 1_800).run(1);
        ReportRow shorter = report.rows().get(0);
        ReportRow longer = report.rows().get(1);
        assertThat(shorter.number("recoverySeconds")).isBetween(3.0, 9.0);
        assertThat(longer.number("recoverySeconds")).isBetween(28.0, 34.0);
        assertThat(shorter.number("duplicates")).isGreaterThan(longer.number("duplicates"));
    }

    @Test
    void three_retries_cost_what_the_formula_says() {
        BudgetExperiment budget = new BudgetExperiment(List.of(0.5), 100, List.of());
        budget.keep(List.of("3-retries"));
        Report report = budget.run(1);
        double formula = report.row("3-retries-by-formula").number("load");
        assertThat(report.row("3-retries").number("load")).isBetween(formula - 0.05, formula + 0.05);
    }

    @Test
    void a_row_that_is_not_there_is_refused_with_those_that_are() {
        Experiment experiment = new JitterExperiment();
        assertThatThrownBy(() -> experiment.keep(List.of("full", "fool")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"fool\"")
                .hasMessageContaining("decorrelated");
    }

    @Test
    void a_world_that_cannot_be_is_refused() {
        assertThatThrownBy(() -> new Setting(Duration.ZERO, 50, Duration.ofHours(1), 100, 400))
                .hasMessageContaining("outage must be");
        assertThatThrownBy(() -> new Setting(Duration.ofMinutes(1), 1_000, Duration.ofHours(24), 100, 400))
                .hasMessageContaining("jobs");
        assertThatThrownBy(() -> new Setting(Duration.ofMinutes(1), Double.NaN, Duration.ofHours(1), 100, 400))
                .hasMessageContaining("rate must be");
    }

    @Test
    void a_plot_is_a_picture_with_a_line_per_policy() throws Exception {
        Report report = new JitterExperiment(List.of(10, 20), 2).run(1);
        Document svg = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(report.plot().getBytes(UTF_8)));
        assertThat(svg.getElementsByTagName("polyline").getLength()).isEqualTo(8);
        assertThat(report.plot())
                .contains(">decorrelated<")
                .doesNotContain("NaN")
                .doesNotContain("Infinity");
    }
}
