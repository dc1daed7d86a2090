// SPDX-License-Identifier: Apache-2.0
package io.reprise.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.testkit.Slow;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The protocol of leases keeps its promises under every bounded set of faults, and each known mistake breaks one of them. */
class LeaseModelTest {

    private static final List<String> INVARIANTS = List.of(
            "NobodyKeepsAWaitingJob",
            "OneLiveToken",
            "OnlyTheHolderSettles",
            "ClaimsAddUp",
            "AttemptsAreCapped",
            "LossesAreCapped",
            "NobodyRunsBesideALiveLease",
            "ToldIsWritten",
            "AStoppedWorkerOwesNothing");
    private static final int MAX_LOSSES = 2;
    private static final List<String> PROPERTIES = List.of("TokensGrow", "EndedIsEnded");

    /** How often each kind of fault may happen. */
    private record Faults(int lapses, int crashes, int silences, int frees, int replays, int stops) {

        /** As a line of a table: six numbers. */
        static Faults of(String numbers) {
            int[] n =
                    numbers.chars().filter(Character::isDigit).map(c -> c - '0').toArray();
            return new Faults(n[0], n[1], n[2], n[3], n[4], n[5]);
        }
    }

    @TempDir
    Path directory;

    private final TestReporter reporter;

    LeaseModelTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    /** Two workers, two jobs. The numbers: lapses, crashes, silences, frees, replays, stops. */
    @Test
    void two_jobs_and_two_workers_keep_every_promise() throws Exception {
        holds(check(2, 2, Faults.of("1 1 0 0 0 0")));
    }

    @Slow
    @Test
    void two_jobs_and_two_workers_keep_every_promise_through_a_stop() throws Exception {
        holds(check(2, 2, Faults.of("0 0 1 1 0 1")));
    }

    /** One job, so that more can go wrong with it. */
    @Test
    void one_job_keeps_every_promise_through_more_faults() throws Exception {
        holds(check(2, 1, Faults.of("1 1 1 1 1 0")));
    }

    @Slow
    @Test
    void one_job_keeps_every_promise_through_most_faults() throws Exception {
        holds(check(2, 1, Faults.of("2 1 1 1 0 1")));
    }

    /** Minutes to hours: run with {@code -Dreprise.model.deep=true -Dreprise.model.minutes=120}. */
    @ParameterizedTest
    @CsvSource({"1 0 1 0 0 0", "1 0 0 1 1 0", "1 1 1 0 0 0", "2 1 0 0 0 0"})
    @EnabledIfSystemProperty(named = "reprise.model.deep", matches = "true")
    void two_jobs_and_two_workers_keep_every_promise_through_more_faults(String faults) throws Exception {
        holds(check(2, 2, Faults.of(faults)));
    }

    /** With so many losses allowed that two suspects may run together, and enough crashes to find out who it was. */
    @Test
    void suspects_in_groups_keep_every_promise() throws Exception {
        holds(check(1, 2, Faults.of("0 4 0 0 0 0"), 4));
    }

    @Test
    void everything_ends_once_the_faults_are_over() throws Exception {
        // Symmetry and likeness of states would make a check of liveness wrong.
        String configuration = constants(2, 1, new Faults(1, 1, 1, 0, 0, 0), "none") + "PROPERTIES EverythingEnds\n";
        holds(Tlc.check(Path.of("Lease.tla"), configuration, directory));
    }

    @ParameterizedTest
    @CsvSource({
        "completion by id alone,        OnlyTheHolderSettles,       2, 1, 1 0 0 0 0 0",
        "attempt number as token,       OnlyTheHolderSettles,       2, 1, 1 0 0 0 0 0",
        "stale rescue,                  EndedIsEnded,               2, 1, 1 0 0 0 0 0",
        "reclaim by the worker's clock, NobodyRunsBesideALiveLease, 2, 1, 0 0 0 0 0 0",
        "loss not counted,              ClaimsAddUp,                2, 1, 0 1 0 0 0 0",
        "loss not capped,               LossesAreCapped,            1, 1, 0 4 0 0 0 0",
        "take-over in two steps,        OneLiveToken,               2, 1, 1 0 0 0 0 0",
        "close before settle,           ClaimsAddUp,                2, 1, 0 0 0 0 0 0",
        "renewal brings back the lease, OneLiveToken,               2, 1, 1 0 0 0 0 0",
        "tokens used again,             NobodyKeepsAWaitingJob,     2, 1, 1 0 0 0 0 0",
        "waiting job stays on the list, NobodyKeepsAWaitingJob,     1, 2, 0 0 0 0 0 0",
        "no answer taken for refused,   ToldIsWritten,              2, 1, 0 0 1 0 0 0",
        "no answer taken for written,   ToldIsWritten,              2, 1, 1 0 1 0 0 0",
        "group commit lost at shutdown, AStoppedWorkerOwesNothing,  2, 1, 0 0 0 0 0 1"
    })
    void a_known_mistake_is_found(String bug, String broken, int workers, int jobs, String faults) throws Exception {
        String kind = PROPERTIES.contains(broken) ? "PROPERTIES " : "INVARIANTS ";
        String configuration = constants(workers, jobs, Faults.of(faults), bug) + kind + broken + "\n";

        Tlc.Verdict verdict = Tlc.check(Path.of("Lease.tla"), configuration, directory);

        assertThat(verdict.violated()).as(verdict.output()).isEqualTo(broken);
    }

    private Tlc.Verdict check(int workers, int jobs, Faults faults) throws Exception {
        return check(workers, jobs, faults, MAX_LOSSES);
    }

    private Tlc.Verdict check(int workers, int jobs, Faults faults, int maxLosses) throws Exception {
        String configuration = constants(workers, jobs, faults, "none", maxLosses)
                + "SYMMETRY Symmetry\nVIEW Alike\nINVARIANTS " + String.join(" ", INVARIANTS) + "\nPROPERTIES "
                + String.join(" ", PROPERTIES) + "\n";
        return Tlc.check(Path.of("Lease.tla"), configuration, directory);
    }

    /** All of it, and that was not nothing. */
    private void holds(Tlc.Verdict verdict) {
        assertThat(verdict.violated()).as(verdict.output()).isNull();
        assertThat(verdict.distinct()).isGreaterThan(1_000);
        reporter.publishEntry("distinct states", Long.toString(verdict.distinct()));
    }

    private static String constants(int workers, int jobs, Faults faults, String bug) {
        return constants(workers, jobs, faults, bug, MAX_LOSSES);
    }

    private static String constants(int workers, int jobs, Faults faults, String bug, int maxLosses) {
        List<String> lines = new ArrayList<>();
        lines.add("SPECIFICATION Spec");
        lines.add("CONSTANTS");
        lines.add("Workers = " + names("w", workers));
        lines.add("Jobs = " + names("j", jobs));
        lines.add("MaxAttempts = 2");
        lines.add("MaxLosses = " + maxLosses);
        lines.add("Lapses = " + faults.lapses);
        lines.add("Crashes = " + faults.crashes);
        lines.add("Silences = " + faults.silences);
        lines.add("Frees = " + faults.frees);
        lines.add("Replays = " + faults.replays);
        lines.add("Stops = " + faults.stops);
        lines.add("Bug = \"" + bug + "\"");
        return String.join("\n", lines) + "\n";
    }

    private static String names(String prefix, int count) {
        return IntStream.rangeClosed(1, count).mapToObj(i -> prefix + i).collect(Collectors.joining(", ", "{", "}"));
    }
}
