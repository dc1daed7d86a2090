// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.store.CountedAs;

/**
 * The counters and the lane of a live job.
 *
 * @param cancel whether a cancellation was requested
 */
public record SpentCounters(int attempts, int losses, int interruptions, int snoozes, int lane, boolean cancel) {

    /**
     * Returns the counters after a claim ended. A job that waits after its second loss goes to the lane of suspects.
     */
    public SpentCounters after(CountedAs spent, boolean waits) {
        boolean lost = spent == CountedAs.LOSS && waits && losses > 0;
        return new SpentCounters(
                attempts + (spent == CountedAs.ATTEMPT ? 1 : 0),
                losses + (spent == CountedAs.LOSS ? 1 : 0),
                interruptions + (spent == CountedAs.INTERRUPTION ? 1 : 0),
                snoozes + (spent == CountedAs.SNOOZE ? 1 : 0),
                spent == CountedAs.ATTEMPT ? 1 : lost ? 2 : lane,
                cancel);
    }

    public int claims() {
        return attempts + losses + interruptions + snoozes;
    }
}
