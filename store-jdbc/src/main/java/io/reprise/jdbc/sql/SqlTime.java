// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * Times and durations as the tables hold them, in microseconds. Times beyond the years 0 to
 * 9999 become the nearest end.
 */
public final class SqlTime {

    private static final Instant FIRST = Instant.parse("0000-01-01T00:00:00Z");
    private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999999Z");
    private static final Duration LONGEST = Duration.between(FIRST, LAST);

    private SqlTime() {}

    public static long of(Instant instant) {
        Instant bounded = instant.isBefore(FIRST) ? FIRST : instant.isAfter(LAST) ? LAST : instant;
        return Math.addExact(Math.multiplyExact(bounded.getEpochSecond(), 1_000_000L), bounded.getNano() / 1_000);
    }

    public static long of(Duration duration) {
        Duration bounded = duration.compareTo(LONGEST) > 0 ? LONGEST : duration;
        return Math.addExact(Math.multiplyExact(bounded.getSeconds(), 1_000_000L), bounded.getNano() / 1_000);
    }

    public static @Nullable Long ofNullable(@Nullable Instant instant) {
        return instant == null ? null : of(instant);
    }

    public static @Nullable Long ofNullable(@Nullable Duration duration) {
        return duration == null ? null : of(duration);
    }

    public static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    public static Duration duration(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }
}
