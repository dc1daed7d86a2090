// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What happened to a job before the failure being decided.
 *
 * @param attempts attempts that counted, not including the one that just failed
 * @param losses leases lost, not including one lost just now
 * @param elapsed time since the job first became due
 * @param lastDelay the delay before the attempt that just failed; null if it was the first
 */
public record History(
        int attempts,
        int losses,
        Duration elapsed,
        @Nullable Duration lastDelay) {

    /** A job that just failed its first attempt, at once. */
    public static final History FIRST = new History(0, 0, Duration.ZERO, null);

    public History {
        Bounds.integer("attempts", attempts, 0, Integer.MAX_VALUE);
        Bounds.integer("losses", losses, 0, Integer.MAX_VALUE);
        // A clock that stepped back or is far off must not break a decision.
        elapsed = Duration.ofNanos(Bounds.nanos(elapsed));
    }
}
