// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.history.Violation;
import io.reprise.testkit.TestRun;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Known bugs, put into a store or an engine, are found by the checker within a few seeds. */
class CheckerBitesTest {

    /**
     * A bug.
     *
     * @param within the number of seeds, from 1, that are enough
     * @param rules by one of which it is found
     */
    record Bug(String name, Supplier<ChaosBug> breakage, int within, Set<String> rules) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Bug> bugs() {
        return Stream.of(
                new Bug(
                        "completion without fencing",
                        Bugs::completionWithoutFencing,
                        2000,
                        Set.of("stale outcome", "two outcomes")),
                new Bug(
                        "attempt number as token",
                        Bugs::attemptNumberAsToken,
                        2000,
                        Set.of("stale outcome", "two outcomes")),
                new Bug("reclaim by a worker's clock", Bugs::reclaimByAWorkersClock, 100, Set.of("stolen lease")),
                new Bug(
                        "group commit lost at shutdown",
                        Bugs::groupCommitLostAtShutdown,
                        500,
                        Set.of("told", "left behind")),
                new Bug(
                        "outcomes dropped on a database error",
                        Bugs::outcomesDroppedOnADatabaseError,
                        500,
                        Set.of("told", "left behind")),
                new Bug(
                        "stale rescue overwrites",
                        Bugs::staleRescueOverwrites,
                        5000,
                        Set.of("two ends", "stale outcome", "two outcomes")),
                new Bug("checkpoint without fencing", Bugs::checkpointWithoutFencing, 2000, Set.of("stale step")),
                new Bug(
                        "event lost between check and wait",
                        Bugs::eventLostBetweenCheckAndWait,
                        500,
                        Set.of("event lost")),
                new Bug("steps forgotten", Bugs::stepsForgotten, 100, Set.of("step repeated")),
                new Bug("crashes bypass their cap", Bugs::crashesBypassTheirCap, 100, Set.of("losses", "told")),
                new Bug("failures bypass their cap", Bugs::failuresBypassTheirCap, 100, Set.of("attempts", "told")),
                new Bug("delays hold leases", Bugs::delaysHoldLeases, 100, Set.of("told")),
                new Bug("prefetched jobs leak", Bugs::prefetchedJobsLeak, 100, Set.of("stuck", "state")),
                new Bug("unique key freed early", Bugs::uniqueKeyFreedEarly, 100, Set.of("unique key")),
                new Bug("delays forgotten", Bugs::delaysForgotten, 100, Set.of("too early")),
                new Bug("snoozes spend attempts", Bugs::snoozesSpendAttempts, 100, Set.of("counters")),
                new Bug("enqueues lost", Bugs::enqueuesLost, 100, Set.of("lost")),
                new Bug("renewals forgotten", Bugs::renewalsForgotten, 100, Set.of("stolen lease")),
                new Bug("pauses forgotten", Bugs::pausesForgotten, 100, Set.of("paused queue")),
                new Bug("cancellations forgotten", Bugs::cancellationsForgotten, 100, Set.of("ended", "state")),
                new Bug(
                        "schedules fire for each leader",
                        Bugs::schedulesFireForEachLeader,
                        3000,
                        Set.of("fired twice")),
                new Bug(
                        "dead letters keep their due time",
                        Bugs::deadLettersKeepTheirDueTime,
                        500,
                        Set.of("due time")));
    }

    @ParameterizedTest
    @MethodSource("bugs")
    void a_bug_is_found(Bug bug) {
        int seed = 0;
        List<Violation> found = List.of();
        while (found.isEmpty() && seed < bug.within) {
            seed++;
            found = new ChaosWorld(ChaosPlan.of(seed), bug.breakage.get()).run().violations();
        }
        assertThat(found).as("found within %d seeds", bug.within).isNotEmpty();
        assertThat(bug.rules).contains(found.get(0).rule());
    }

    static Stream<Bug> placeBugs() {
        return Stream.of(
                new Bug("order forgotten by retries", Bugs::orderForgottenByRetries, 200, Set.of("order")),
                new Bug("needs ignored", Bugs::needsIgnored, 200, Set.of("needs")));
    }

    @ParameterizedTest
    @MethodSource("placeBugs")
    void a_bug_of_order_and_needs_is_found(Bug bug) {
        int seed = 0;
        List<Violation> found = List.of();
        while (found.isEmpty() && seed < bug.within) {
            seed++;
            found = new ChaosWorld(ChaosPlan.placed(seed), bug.breakage.get())
                    .run()
                    .violations();
        }
        assertThat(found).as("found within %d seeds", bug.within).isNotEmpty();
        assertThat(bug.rules).contains(found.get(0).rule());
    }

    @Test
    void order_and_needs_are_kept_whatever_happens() {
        for (long seed = 1; seed <= TestRun.size(60, 400); seed++) {
            assertThat(new ChaosWorld(ChaosPlan.placed(seed), ChaosBug.NONE)
                            .run()
                            .violations())
                    .as("seed %d", seed)
                    .isEmpty();
        }
    }

    static Stream<Bug> joinBugs() {
        return Stream.of(
                new Bug("batch counted twice", Bugs::batchCountedTwice, 200, Set.of("join early")),
                new Bug(
                        "child replayed without its parent",
                        Bugs::childReplayedWithoutItsParent,
                        1000,
                        Set.of("join stays broken")));
    }

    @ParameterizedTest
    @MethodSource("joinBugs")
    void a_bug_of_joins_is_found(Bug bug) {
        int seed = 0;
        List<Violation> found = List.of();
        while (found.isEmpty() && seed < bug.within) {
            seed++;
            found = new ChaosWorld(ChaosPlan.joining(seed), bug.breakage.get())
                    .run()
                    .violations();
        }
        assertThat(found).as("found within %d seeds", bug.within).isNotEmpty();
        assertThat(bug.rules).contains(found.get(0).rule());
    }

    @Test
    void joins_break_no_rule_whatever_happens() {
        for (long seed = 1; seed <= TestRun.size(60, 400); seed++) {
            assertThat(new ChaosWorld(ChaosPlan.joining(seed), ChaosBug.NONE)
                            .run()
                            .violations())
                    .as("seed %d", seed)
                    .isEmpty();
        }
    }
}
