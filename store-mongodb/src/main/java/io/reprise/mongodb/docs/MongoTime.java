// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb.docs;

import io.reprise.store.Micros;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import org.jspecify.annotations.Nullable;

/** Times and durations as the documents hold them: {@link Micros}, because a MongoDB date has only milliseconds. */
public final class MongoTime {

    private MongoTime() {}

    public static long of(Instant instant) {
        return Micros.of(instant);
    }

    public static long of(Duration duration) {
        return Micros.of(duration);
    }

    public static @Nullable Long ofNullable(@Nullable Instant instant) {
        return instant == null ? null : of(instant);
    }

    public static @Nullable Long ofNullable(@Nullable Duration duration) {
        return duration == null ? null : of(duration);
    }

    /** Adds a duration, at most up to the year 9999. */
    public static long plus(long micros, Duration duration) {
        return Micros.plus(micros, duration);
    }

    public static Instant instant(long micros) {
        return Micros.instant(micros);
    }

    public static @Nullable Instant instantOrNull(@Nullable Long micros) {
        return micros == null ? null : instant(micros);
    }

    public static Duration duration(long micros) {
        return Micros.duration(micros);
    }

    static @Nullable Duration durationOrNull(@Nullable Long micros) {
        return micros == null ? null : duration(micros);
    }

    /** For people who read the documents. */
    public static Date date(long micros) {
        return Date.from(instant(micros));
    }
}
