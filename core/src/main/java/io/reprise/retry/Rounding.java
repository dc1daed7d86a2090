// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

/** The resolution of a delay. Rounding is always down, so that it never lifts a delay above the cap. */
public enum Rounding {
    /** Microseconds, in which every store keeps time: so the delay decided is exactly the delay stored. */
    NONE(1_000),
    /** Whole milliseconds. */
    MILLIS(1_000_000),
    /** Whole seconds. */
    FLOOR_SECONDS(1_000_000_000);

    private final long unit;

    Rounding(long unit) {
        this.unit = unit;
    }

    long round(long nanos) {
        return nanos - nanos % unit;
    }
}
