// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import java.time.Duration;

/**
 * How far a piece of upkeep is behind.
 *
 * @param piece leases, deadlines, schedules, retention or counters
 * @param rows rows that wait for it, counted up to {@value #MAX_ROWS}
 * @param by how long the oldest of these rows has waited; zero if none waits
 * @since 0.1.0
 */
public record Behind(String piece, long rows, Duration by) {

    /** Counting stops at this number of rows. */
    public static final int MAX_ROWS = 10_000;
}
