// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.simulator.recovery.RecoveryPlan.Retries;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Known bugs of recovery are found by the checker within a few worlds: each breaks a property in a world that keeps it
 * without the bug.
 */
class CheckerBitesTest {

    /** Seeds among which worlds are looked for. */
    private static final int SEEDS = 2_000;

    private static final Predicate<RecoveryPlan> TROUBLE =
            plan -> plan.storm() == null && plan.load().resources() < 5_000;

    /**
     * A bug.
     *
     * @param where the worlds in which it can show
     * @param within the number of those worlds that are enough
     * @param properties by one of which it is found
     */
    record Bug(String name, RecoveryBug breakage, Predicate<RecoveryPlan> where, int within, Set<Property> properties) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Bug> bugs() {
        return Stream.of(
                new Bug(
                        "the rate of a ramp is capped at 10 per second",
                        Bugs.rampIsCapped(),
                        TROUBLE,
                        30,
                        Set.of(Property.TIME_TO_90, Property.LIVENESS)),
                new Bug(
                        "a budget grants 500 retries per tick",
                        Bugs.grantsAreFew(),
                        storms(Retries.SUCCEED).and(CheckerBitesTest::isManyAndFast),
                        10,
                        Set.of(Property.STORMS)),
                new Bug(
                        "a ramp never grows",
                        Bugs.rampNeverGrows(),
                        TROUBLE,
                        30,
                        Set.of(Property.TIME_TO_90, Property.LIVENESS)),
                new Bug("a ramp floods", Bugs.rampFloods(), TROUBLE, 200, Set.of(Property.NO_FLOOD)),
                new Bug(
                        "the parked jobs of one resource are never let go",
                        Bugs.oneResourceIsForgotten(),
                        TROUBLE,
                        50,
                        Set.of(Property.LIVENESS)),
                new Bug(
                        "fresh jobs stand behind the backlog",
                        Bugs.freshJobsStandBehind(),
                        TROUBLE,
                        50,
                        Set.of(Property.FRESH_WORK)),
                new Bug(
                        "trouble of one resource stops all",
                        Bugs.troubleStopsAll(),
                        TROUBLE,
                        50,
                        Set.of(Property.ISOLATION)),
                new Bug(
                        "breakers are forgotten",
                        Bugs.breakersAreForgotten(),
                        TROUBLE.and(plan -> plan.trouble().kind() == RecoveryPlan.Kind.DOWN),
                        30,
                        Set.of(Property.NO_WASTE)),
                new Bug(
                        "budgets are ignored",
                        Bugs.budgetsAreIgnored(),
                        storms(Retries.FAIL).and(CheckerBitesTest::isSmallOfAResource),
                        5,
                        Set.of(Property.STORMS)));
    }

    private static Predicate<RecoveryPlan> storms(Retries retries) {
        return plan -> plan.storm() != null
                && plan.storm().retries() == retries
                && plan.storm().jobs() < 200_000;
    }

    private static boolean isSmallOfAResource(RecoveryPlan plan) {
        return plan.storm() != null
                && plan.storm().jobs() < 2_000
                && plan.storm().resource();
    }

    /** More than a budget holds, and more per second than the bug lets go. */
    private static boolean isManyAndFast(RecoveryPlan plan) {
        return plan.storm() != null && plan.storm().jobs() > 20_000 && plan.workersRate() > 5_000;
    }

    @ParameterizedTest
    @MethodSource("bugs")
    void a_bug_is_found(Bug bug) {
        List<RecoveryPlan> plans = LongStream.rangeClosed(1, SEEDS)
                .mapToObj(Plans::of)
                .filter(bug.where)
                .limit(bug.within)
                .toList();
        assertThat(plans).as("worlds in which it can show").isNotEmpty();
        assertThat(plans)
                .as("found within %d worlds", bug.within)
                .anyMatch(plan ->
                        breaks(plan, bug.breakage, bug.properties) && !breaks(plan, RecoveryBug.NONE, bug.properties));
    }

    private static boolean breaks(RecoveryPlan plan, RecoveryBug breakage, Set<Property> properties) {
        return RecoveryOutcome.of(plan, breakage).broken().stream()
                .anyMatch(verdict -> properties.contains(verdict.property()));
    }
}
