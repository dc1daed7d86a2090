// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.time.Duration;

/** The limits of this package and the one wording with which a value outside them is refused. */
final class Bounds {

    /** No delay, deadline or elapsed time is longer than this; longer ones saturate. Fits nanoseconds in a long. */
    static final Duration MAX_DURATION = Duration.ofDays(36_500);

    static final long MAX_NANOS = MAX_DURATION.toNanos();

    static final int MAX_ATTEMPTS = 1_000_000;

    private static final int MAX_SHOWN = 200;

    private Bounds() {}

    static Duration duration(String field, Duration value, Duration least) {
        if (value.compareTo(least) < 0 || value.compareTo(MAX_DURATION) > 0) {
            throw refused(field, value, least + " to " + MAX_DURATION);
        }
        return value;
    }

    static Duration notNegative(String field, Duration value) {
        return duration(field, value, Duration.ZERO);
    }

    static Duration positive(String field, Duration value) {
        return duration(field, value, Duration.ofNanos(1));
    }

    static int integer(String field, int value, int least, int most) {
        if (value < least || value > most) {
            throw refused(field, value, least + " to " + most);
        }
        return value;
    }

    static double number(String field, double value, double least, double most) {
        // Written so that NaN is refused too.
        if (!(value >= least && value <= most)) {
            throw refused(field, value, least + " to " + most);
        }
        return value == 0 ? 0.0 : value;
    }

    static IllegalArgumentException refused(String field, Object value, String allowed) {
        // Both may come from a text that somebody else wrote.
        return new IllegalArgumentException(Truncation.cut(field, MAX_SHOWN) + " is "
                + Truncation.cut(String.valueOf(value), MAX_SHOWN) + " but must be " + allowed);
    }

    /** Nanoseconds of any duration, held within 0 and {@link #MAX_NANOS}. */
    static long nanos(Duration value) {
        if (value.isNegative()) {
            return 0;
        }
        return value.compareTo(MAX_DURATION) >= 0 ? MAX_NANOS : value.toNanos();
    }
}
