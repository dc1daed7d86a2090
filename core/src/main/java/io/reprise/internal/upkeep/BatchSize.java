// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.upkeep;

import java.time.Duration;

/**
 * Number of rows that one upkeep transaction handles. It doubles while full batches are quick and halves when they are
 * slow, so workers wait little for locks on any store. Not thread-safe.
 */
public final class BatchSize {

    private static final int FEWEST = 100;
    private static final Duration LONGEST = Duration.ofMillis(120);

    /** A batch is quick if it takes the longest time divided by this number, or less. */
    private static final int QUICK = 3;

    private final int most;
    private final long longestNanos;
    private int rows;

    public BatchSize(int first, int most) {
        this(first, most, LONGEST);
    }

    /** Creates a size whose batches take about this long at most. */
    public BatchSize(int first, int most, Duration longest) {
        this.rows = first;
        this.most = most;
        this.longestNanos = longest.toNanos();
    }

    public int rows() {
        return rows;
    }

    /** Adapts the size to the time that a full batch took. */
    public void took(long nanos) {
        if (nanos < longestNanos / QUICK) {
            rows = Math.min(most, rows * 2);
        } else if (nanos > longestNanos) {
            rows = Math.max(FEWEST, rows / 2);
        }
    }
}
