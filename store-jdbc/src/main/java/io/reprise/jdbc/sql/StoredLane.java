// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import io.reprise.store.Lane;

/**
 * A lane as the column {@code lane} holds it: 0, 1 and 2 in the order of {@link Lane}, and 3 more while the job is parked.
 * So one index range holds the jobs of a lane that can be claimed, and no claim reads a parked job. Statements that
 * change many rows do the same arithmetic in SQL.
 */
public final class StoredLane {

    public static final int FRESH = of(Lane.FRESH, false);
    public static final int RETRY = of(Lane.RETRY, false);
    public static final int SUSPECT = of(Lane.SUSPECT, false);

    /** Number of lanes. Lanes from this one on are parked. */
    public static final int PARKED = 3;

    private StoredLane() {}

    public static int of(Lane lane, boolean parked) {
        int claimable = switch (lane) {
            case FRESH -> 0;
            case RETRY -> 1;
            case SUSPECT -> 2;
        };
        return parked ? claimable + PARKED : claimable;
    }

    /** Returns the lane, whether or not the job is parked. */
    public static Lane lane(int stored) {
        return switch (stored % PARKED) {
            case 0 -> Lane.FRESH;
            case 1 -> Lane.RETRY;
            default -> Lane.SUSPECT;
        };
    }
}
