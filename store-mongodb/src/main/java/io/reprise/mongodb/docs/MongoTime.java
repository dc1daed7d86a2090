// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Date;
import org.jspecify.annotations.Nullable;

/** Times and durations as the documents hold them, in microseconds, because a MongoDB date has only milliseconds. */
public final class MongoTime {

    private static final Instant FIRST = Instant.parse("0000-01-01T00:00:00Z");
    private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999999Z");
    private static final Duration LONGEST = Duration.between(FIRST, LAST);

    private MongoTime() {}

    /** Times beyond the years 0 to 9999 become the nearest end. */
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

    /** Adds a duration, at most up to the year 9999. */
    public static long plus(long micros, Duration duration) {
        return Math.min(micros + of(duration), of(LAST));
    }

    public static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    static @Nullable Instant instantOrNull(@Nullable Long micros) {
        return micros == null ? null : instant(micros);
    }

    public static Duration duration(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }

    static @Nullable Duration durationOrNull(@Nullable Long micros) {
        return micros == null ? null : duration(micros);
    }

    /** For people who read the documents. */
    public static Date date(long micros) {
        return Date.from(instant(micros));
    }
}
