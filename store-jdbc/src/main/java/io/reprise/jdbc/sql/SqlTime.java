// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import io.reprise.store.Micros;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Times and durations as the tables hold them: {@link Micros}, or null. */
public final class SqlTime {

    private SqlTime() {}

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

    public static Instant instant(long micros) {
        return Micros.instant(micros);
    }

    public static Duration duration(long micros) {
        return Micros.duration(micros);
    }
}
