// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import java.util.List;

/**
 * A world that broke a property.
 *
 * @param broken the broken properties, with numbers, in the world as it was drawn
 * @param setting the plainest world that still breaks the first of them
 * @param brokenThere the broken properties in that world
 * @param trace the events of that world, by the second
 */
public record RecoveryFailure(long seed, List<String> broken, String setting, List<String> brokenThere, String trace) {

    public RecoveryFailure {
        broken = List.copyOf(broken);
        brokenThere = List.copyOf(brokenThere);
    }

    static RecoveryFailure of(long seed, RecoveryBug breakage) {
        RecoveryOutcome drawn = RecoveryOutcome.of(Plans.of(seed), breakage);
        if (drawn.broken().isEmpty()) {
            throw new IllegalStateException("World " + seed + " does not fail a second time");
        }
        RecoveryOutcome plain = new RecoveryShrinker(breakage).smallest(drawn);
        return new RecoveryFailure(
                seed, texts(drawn), plain.plan().describe(), texts(plain), TimeTable.of(plain.plan(), plain.course()));
    }

    private static List<String> texts(RecoveryOutcome outcome) {
        return outcome.broken().stream().map(RecoveryVerdict::toString).toList();
    }

    /** Returns the command that shows the world as it was drawn. */
    public String command() {
        return "reprise simulate recovery --seed " + seed;
    }

    /** Returns everything as text for people. */
    @Override
    public String toString() {
        return "World " + seed + " fails:\n  " + String.join("\n  ", broken) + "\n\nPlainest world that does:\n"
                + setting
                + "  " + String.join("\n  ", brokenThere) + "\n\nWhat happened there (! while there is trouble):\n"
                + trace
                + "\nThe whole world: " + command() + "\n";
    }
}
