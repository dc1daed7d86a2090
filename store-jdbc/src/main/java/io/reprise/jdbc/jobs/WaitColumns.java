// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.jdbc.sql.SqlTime;
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
public record WaitColumns(
        @Nullable String reason,
        @Nullable Long delay,
        @Nullable Long lastDelay,
        @Nullable String parkedBy) {

    private static final WaitColumns AS_BEFORE = new WaitColumns(null, null, null, null);

    /** Returns null if the job ends. */
    public static @Nullable WaitColumns of(Settlement.Next next) {
        if (next instanceof Settlement.Wait wait) {
            Long lastDelay = SqlTime.ofNullable(wait.lastDelay());
            return new WaitColumns(wait.reason().name(), SqlTime.of(wait.delay()), lastDelay, null);
        }
        if (next instanceof Settlement.Park park) {
            Long lastDelay = SqlTime.ofNullable(park.lastDelay());
            return new WaitColumns(park.reason().name(), SqlTime.ofNullable(park.delay()), lastDelay, park.by());
        }
        return next instanceof Settlement.PutBack ? AS_BEFORE : null;
    }

    public static WaitColumns require(Settlement settlement) {
        return Objects.requireNonNull(of(settlement.next()));
    }
}
