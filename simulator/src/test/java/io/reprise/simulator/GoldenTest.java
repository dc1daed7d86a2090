// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.simulator.experiment.BudgetExperiment;
import io.reprise.simulator.experiment.Experiment;
import io.reprise.simulator.experiment.HerdExperiment;
import io.reprise.simulator.experiment.JitterExperiment;
import io.reprise.simulator.experiment.LeaseExperiment;
import io.reprise.simulator.experiment.MetastableExperiment;
import io.reprise.simulator.experiment.OutageExperiment;
import io.reprise.simulator.experiment.OutageExperiment.Setting;
import io.reprise.simulator.experiment.PoisonExperiment;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Small variants of every experiment, number by number, in whatever process they run. A change of behaviour shows here;
 * if it is meant, what was found is in {@code target/golden}, to be copied over what was expected.
 */
class GoldenTest {

    static Stream<Arguments> experiments() {
        Setting small = new Setting(Duration.ofMinutes(3), 10, Duration.ofMinutes(10), 20, 40);
        return Stream.of(
                Arguments.of(new JitterExperiment(List.of(10, 50), 5)),
                Arguments.of(new BudgetExperiment(List.of(0.1, 0.5), 20, List.of())),
                Arguments.of(new MetastableExperiment(List.of(0.5), 150, List.of(), false)),
                Arguments.of(new OutageExperiment(small, OutageExperiment.table())),
                Arguments.of(new HerdExperiment(500, List.of())),
                Arguments.of(new PoisonExperiment(60, 900, List.of())),
                Arguments.of(new LeaseExperiment(List.of(5, 30), 900)));
    }

    @ParameterizedTest
    @MethodSource("experiments")
    void the_numbers_of_a_seed_are_always_the_same(Experiment experiment) throws IOException {
        Report report = experiment.run(42);
        String found = report.rows().stream().map(ReportRow::toString).collect(Collectors.joining("\n", "", "\n"));
        String file = report.experiment() + ".txt";
        Path kept = Path.of("target", "golden", file);
        Files.createDirectories(kept.getParent());
        Files.writeString(kept, found);
        try (InputStream golden = GoldenTest.class.getResourceAsStream("golden/" + file)) {
            assertThat(golden).as("golden/" + file).isNotNull();
            assertThat(found).isEqualTo(new String(golden.readAllBytes(), UTF_8));
        }
    }
}
