// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import java.util.Locale;

/** A property that must hold in every world to which it applies. */
public enum Property {
    /** Parked jobs are unparked, faster and faster while calls succeed, and never slower without a reason. */
    LIVENESS,
    /** 90 % of the possible rate is reached soon after the trouble. */
    TIME_TO_90,
    /** The resource never gets many more calls than it can serve for more than a moment. */
    NO_FLOOD,
    /** Few calls in the trouble, few calls per job, and no healthy job given up. */
    NO_WASTE,
    /** Retries that help are not delayed, and retries that do not help are bounded. */
    STORMS,
    /** Jobs from after the trouble do not queue behind those that waited through it. */
    FRESH_WORK,
    /** Jobs of other resources are not affected. */
    ISOLATION;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
