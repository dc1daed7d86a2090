// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.testkit.history.Violation;
import java.util.List;

/**
 * A world in which something happened that must not.
 *
 * @param violations what
 * @param setting what is left of the plan: each of it is needed
 * @param trace what happened to the jobs concerned, and every fault
 */
public record Failure(long seed, List<String> violations, String setting, String trace) {

    static Failure of(long seed, Breakage breakage) {
        Outcome outcome = new Shrinker(breakage).smallest(Plan.of(seed));
        Story story = new Story(outcome);
        return new Failure(
                seed,
                outcome.violations().stream().map(Violation::toString).toList(),
                Shrinker.describe(outcome.plan()),
                story.text());
    }

    /** The command that shows it again. */
    public String command() {
        return "reprise simulate chaos --seed " + seed;
    }

    /** All of it, for people. */
    @Override
    public String toString() {
        return "Seed " + seed + " fails:\n  " + String.join("\n  ", violations) + "\n\nSmallest setting that does:\n"
                + setting + "\nWhat happened (seconds, who, what):\n" + trace + "\nAgain: " + command() + "\n";
    }
}
