// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

/**
 * The resolution of a delay. Delays are rounded down, so rounding never lifts a delay above the cap. The default is
 * {@link #NONE}.
 *
 * <p>In the JSON of a policy the names are {@code none}, {@code millis} and {@code floor-seconds}.
 *
 * @since 0.1.0
 */
public enum Rounding {
    /** Microseconds, the unit in which stores keep times. So the stored delay is exactly the decided delay. */
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
