// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

/**
 * How many rows of upkeep go into one transaction: what the store does in a short time, so that those who run jobs wait little
 * for it, whether the store is fast or slow. Not thread-safe.
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

    /** A full batch took so long. */
    public void took(long nanos) {
        if (nanos < SHORT_NANOS) {
            rows = Math.min(most, rows * 2);
        } else if (nanos > LONG_NANOS) {
            rows = Math.max(FEWEST, rows / 2);
        }
    }
}
