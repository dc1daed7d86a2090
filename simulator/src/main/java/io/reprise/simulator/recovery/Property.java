// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import java.util.Locale;

/** What must hold in every world to which it applies. */
public enum Property {
    /** What is parked is let go, ever faster while calls succeed, and never slower without a reason. */
    LIVENESS,
    /** 90 % of what can be done is done soon after the trouble. */
    TIME_TO_90,
    /** The resource is never called much more often than it can bear for more than a moment. */
    NO_FLOOD,
    /** Few calls in the trouble, few calls per job, and no job given up that nothing was wrong with. */
    NO_WASTE,
    /** Retries that help are not held up, and those that do not help are bounded. */
    STORMS,
    /** What comes after the trouble does not stand behind what waited through it. */
    FRESH_WORK,
    /** Jobs of other resources do not feel it. */
    ISOLATION;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
