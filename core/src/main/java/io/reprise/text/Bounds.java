// SPDX-License-Identifier: Apache-2.0
package io.reprise.text;

import java.time.Duration;

/** The limits of this package. All refusals of a value outside its limits use the same wording. */
public final class Bounds {

    /**
     * The longest delay, deadline or elapsed time. Longer values are cut to it. It fits into a {@code long} as
     * nanoseconds.
     */
    public static final Duration MAX_DURATION = Duration.ofDays(36_500);

    public static final long MAX_NANOS = MAX_DURATION.toNanos();

    public static final int MAX_ATTEMPTS = 1_000_000;

    private static final int MAX_SHOWN = 200;

    private Bounds() {}

    static Duration duration(String field, Duration value, Duration least) {
        if (value.compareTo(least) < 0 || value.compareTo(MAX_DURATION) > 0) {
            throw refused(field, value, least + " to " + MAX_DURATION);
        }
        return value;
    }

    public static Duration notNegative(String field, Duration value) {
        return duration(field, value, Duration.ZERO);
    }

    public static Duration positive(String field, Duration value) {
        return duration(field, value, Duration.ofNanos(1));
    }

    public static int integer(String field, int value, int least, int most) {
        if (value < least || value > most) {
            throw refused(field, value, least + " to " + most);
        }
        return value;
    }

    public static double number(String field, double value, double least, double most) {
        // The negation refuses NaN too.
        if (!(value >= least && value <= most)) {
            throw refused(field, value, least + " to " + most);
        }
        return value == 0 ? 0.0 : value;
    }

    public static IllegalArgumentException refused(String field, Object value, String allowed) {
        // Field and value may come from a stranger's text, so both are cut.
        return new IllegalArgumentException(Truncation.cut(field, MAX_SHOWN) + " is "
                + Truncation.cut(String.valueOf(value), MAX_SHOWN) + " but must be " + allowed);
    }

    /** Nanoseconds of a duration: 0 if it is negative, at most {@link #MAX_NANOS}. */
    public static long nanos(Duration value) {
        if (value.isNegative()) {
            return 0;
        }
        return value.compareTo(MAX_DURATION) >= 0 ? MAX_NANOS : value.toNanos();
    }
}
