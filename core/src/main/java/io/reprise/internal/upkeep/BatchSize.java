// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.upkeep;

/**
 * Number of rows that one upkeep transaction handles. It doubles while full batches are quick and halves when they are
 * slow, so workers wait little for locks on any store. Not thread-safe.
 */
public final class BatchSize {

    private static final int FEWEST = 100;
    private static final long SHORT_NANOS = 40_000_000;
    private static final long LONG_NANOS = 120_000_000;

    private final int most;
    private int rows;

    public BatchSize(int first, int most) {
        this.rows = first;
        this.most = most;
    }

    public int rows() {
        return rows;
    }

    /** Adapts the size to the time that a full batch took. */
    public void took(long nanos) {
        if (nanos < SHORT_NANOS) {
            rows = Math.min(most, rows * 2);
        } else if (nanos > LONG_NANOS) {
            rows = Math.max(FEWEST, rows / 2);
        }
    }
}
