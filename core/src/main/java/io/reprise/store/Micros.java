// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * Times and durations in microseconds, the unit in which stores keep them, for those who write stores. A part below one
 * microsecond is cut off. Times beyond the years 0 to 9999 become the nearest end.
 *
 * @since 0.1.0
 */
public final class Micros {

    private static final Instant FIRST = Instant.parse("0000-01-01T00:00:00Z");
    private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999999Z");
    private static final Duration LONGEST = Duration.between(FIRST, LAST);

    private Micros() {}

    /** Returns the microseconds since 1970. */
    public static long of(Instant instant) {
        Instant bounded = instant.isBefore(FIRST) ? FIRST : instant.isAfter(LAST) ? LAST : instant;
        return Math.addExact(Math.multiplyExact(bounded.getEpochSecond(), 1_000_000L), bounded.getNano() / 1_000);
    }

    /** Returns the microseconds of a duration, at most those of the years 0 to 9999. */
    public static long of(Duration duration) {
        Duration bounded = duration.compareTo(LONGEST) > 0 ? LONGEST : duration;
        return Math.addExact(Math.multiplyExact(bounded.getSeconds(), 1_000_000L), bounded.getNano() / 1_000);
    }

    /** Adds a duration to a time, at most up to the year 9999. */
    public static long plus(long micros, Duration duration) {
        return Math.min(micros + of(duration), of(LAST));
    }

    /** Returns the time so many microseconds after 1970. */
    public static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    /** Returns the duration of so many microseconds. */
    public static Duration duration(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }
}
