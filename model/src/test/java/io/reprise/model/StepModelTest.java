// SPDX-License-Identifier: Apache-2.0
package io.reprise.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.testkit.Slow;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Steps, suspension and events keep their promises under every bounded set of faults, and each known mistake breaks one. */
class StepModelTest {

    private static final Path MODEL = Path.of("Steps.tla");

    private static final List<String> INVARIANTS = List.of(
            "OnlyTheHolderWrites",
            "NoStepIsRepeated",
            "EffectsAreExplained",
            "OnceIsOnce",
            "NobodyWaitsForWhatCame",
            "SuspensionHoldsNothing");

    private static final String TEMPORAL = "Temporal";

    @TempDir
    Path directory;

    private final TestReporter reporter;

    StepModelTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    @Test
    void steps_keep_every_promise() throws Exception {
        holds(2, 2, 1, 1);
    }

    @Slow
    @Test
    void steps_keep_every_promise_through_more_faults() throws Exception {
        holds(3, 2, 2, 1);
    }

    @Test
    void the_job_ends_once_the_faults_are_over() throws Exception {
        // Symmetry would make a check of liveness wrong.
        String configuration = constants(2, 1, 1, 1, "none") + "PROPERTIES EverythingEnds\n";
        Tlc.Verdict verdict = Tlc.check(MODEL, configuration, directory);
        assertThat(verdict.violated()).as(verdict.output()).isNull();
    }

    private void holds(int workers, int lapses, int crashes, int silences) throws Exception {
        String configuration = constants(workers, lapses, crashes, silences, "none") + "SYMMETRY Symmetry\nINVARIANTS "
                + String.join(" ", INVARIANTS) + "\nPROPERTIES StoredIsStored\n";
        Tlc.Verdict verdict = Tlc.check(MODEL, configuration, directory);
        assertThat(verdict.violated()).as(verdict.output()).isNull();
        assertThat(verdict.distinct()).isGreaterThan(1_000);
        reporter.publishEntry("distinct states", Long.toString(verdict.distinct()));
    }

    /** The numbers: lapses, crashes, silences. */
    @ParameterizedTest
    @CsvSource({
        "checkpoint without fence,          OnlyTheHolderWrites,    1, 0, 0",
        "event lost between check and wait, NobodyWaitsForWhatCame, 0, 0, 0",
        "event lost between check and wait, EverythingEnds,         0, 0, 0",
        "woken before the event is stored,  NobodyWaitsForWhatCame, 0, 0, 0",
        "work before its start is stored,   OnceIsOnce,             1, 0, 0",
        "steps read from a copy,            NoStepIsRepeated,       0, 0, 0"
    })
    void a_known_mistake_is_found(String bug, String broken, int lapses, int crashes, int silences) throws Exception {
        boolean lives = broken.equals("EverythingEnds");
        String configuration =
                constants(2, lapses, crashes, silences, bug) + (lives ? "PROPERTIES " : "INVARIANTS ") + broken + "\n";
        Tlc.Verdict verdict = Tlc.check(MODEL, configuration, directory);
        assertThat(verdict.violated()).as(verdict.output()).isEqualTo(lives ? TEMPORAL : broken);
    }

    private static String constants(int workers, int lapses, int crashes, int silences, String bug) {
        String names = workers == 2 ? "{w1, w2}" : "{w1, w2, w3}";
        return """
                SPECIFICATION Spec
                CONSTANTS
                Workers = %s
                Lapses = %d
                Crashes = %d
                Silences = %d
                Bug = "%s"
                """.formatted(names, lapses, crashes, silences, bug);
    }
}
