// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.store.Settlement;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a job waits after a settlement, in microseconds.
 *
 * @param reason null keeps the stored reason
 * @param delay null keeps the due time
 * @param lastDelay null keeps the stored delay
 * @param parkedBy the name that parks the job; null if it is not parked
 */
record Waiting(
        @Nullable String reason,
        @Nullable Long delay,
        @Nullable Long lastDelay,
        @Nullable String parkedBy) {

    private static final Waiting AS_BEFORE = new Waiting(null, null, null, null);

    /** Returns null if the job ends. */
    static @Nullable Waiting of(Settlement.Next next) {
        if (next instanceof Settlement.Wait wait) {
            Long lastDelay = Micros.ofNullable(wait.lastDelay());
            return new Waiting(wait.reason().name(), Micros.of(wait.delay()), lastDelay, null);
        }
        if (next instanceof Settlement.Park park) {
            Long lastDelay = Micros.ofNullable(park.lastDelay());
            return new Waiting(park.reason().name(), Micros.ofNullable(park.delay()), lastDelay, park.by());
        }
        return next instanceof Settlement.PutBack ? AS_BEFORE : null;
    }

    static Waiting require(Settlement settlement) {
        return Objects.requireNonNull(of(settlement.next()));
    }
}
