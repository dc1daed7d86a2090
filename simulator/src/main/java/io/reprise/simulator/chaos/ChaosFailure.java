// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.history.Violation;
import java.util.List;

/**
 * A world with a violation.
 *
 * @param violations the violations
 * @param setting the reduced plan; every part of it is needed
 * @param trace the events of the jobs concerned, and every fault
 */
public record ChaosFailure(long seed, List<String> violations, String setting, String trace) {

    static ChaosFailure of(long seed, ChaosBug breakage) {
        ChaosOutcome outcome = new ChaosShrinker(breakage).smallest(ChaosPlan.of(seed));
        Story story = new Story(outcome);
        return new ChaosFailure(
                seed,
                outcome.violations().stream().map(Violation::toString).toList(),
                ChaosShrinker.describe(outcome.plan()),
                story.text());
    }

    /** Returns the command that repeats it. */
    public String command() {
        return "reprise simulate chaos --seed " + seed;
    }

    /** Returns everything as text for people. */
    @Override
    public String toString() {
        return "Seed " + seed + " fails:\n  " + String.join("\n  ", violations) + "\n\nSmallest setting that does:\n"
                + setting + "\nWhat happened (seconds, who, what):\n" + trace + "\nAgain: " + command() + "\n";
    }
}
