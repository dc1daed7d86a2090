// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.store.Spent;

/**
 * The counters and the lane of a live job.
 *
 * @param cancel whether a cancellation was requested
 */
record Tally(int attempts, int losses, int interruptions, int snoozes, int lane, boolean cancel) {

    /**
     * Returns the counters after a claim ended. A job that waits after its second loss goes to the lane of suspects.
     */
    Tally after(Spent spent, boolean waits) {
        boolean lost = spent == Spent.LOSS && waits && losses > 0;
        return new Tally(
                attempts + (spent == Spent.ATTEMPT ? 1 : 0),
                losses + (spent == Spent.LOSS ? 1 : 0),
                interruptions + (spent == Spent.INTERRUPTION ? 1 : 0),
                snoozes + (spent == Spent.SNOOZE ? 1 : 0),
                spent == Spent.ATTEMPT ? 1 : lost ? 2 : lane,
                cancel);
    }

    int claims() {
        return attempts + losses + interruptions + snoozes;
    }
}
