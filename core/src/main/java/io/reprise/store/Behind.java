// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.time.Duration;

/**
 * How far a piece of upkeep is behind.
 *
 * @param piece leases, deadlines, schedules, retention or counters
 * @param rows what waits for it; at most {@value #MOST} are counted
 * @param by for how long the first of them has waited
 */
public record Behind(String piece, long rows, Duration by) {

    public static final int MOST = 10_000;
}
