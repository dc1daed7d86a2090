// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import java.util.Locale;

/**
 * The result of the checker for one property of one world.
 *
 * @param text the error, or why the property does not apply; empty if it holds
 */
record RecoveryVerdict(Property property, Result result, String text) {

    enum Result {
        HELD,
        BROKEN,
        /** The world cannot show it. */
        NOT_APPLICABLE
    }

    static RecoveryVerdict held(Property property) {
        return new RecoveryVerdict(property, Result.HELD, "");
    }

    static RecoveryVerdict broken(Property property, String format, Object... values) {
        return new RecoveryVerdict(property, Result.BROKEN, String.format(Locale.ROOT, format, values));
    }

    static RecoveryVerdict notApplicable(Property property, String why) {
        return new RecoveryVerdict(property, Result.NOT_APPLICABLE, why);
    }

    boolean isBroken() {
        return result == Result.BROKEN;
    }

    @Override
    public String toString() {
        return property + ": " + text;
    }
}
