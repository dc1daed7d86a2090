// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.text.Bounds;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The past of a job, before the failure that is being decided.
 *
 * @param attempts attempts that counted, without the one that just failed; 0 or more
 * @param losses leases lost, without the one lost just now; 0 or more
 * @param elapsed time since the job first became due. A negative value becomes zero, and a value above 36,500 days
 *     becomes 36,500 days, because a wrong clock must not break a decision
 * @param lastDelay the delay before the attempt that just failed; null if it was the first
 * @since 0.1.0
 */
public record AttemptHistory(
        int attempts,
        int losses,
        Duration elapsed,
        @Nullable Duration lastDelay) {

    /** The history of a job that failed its first attempt at the moment it became due. */
    public static final AttemptHistory FIRST = new AttemptHistory(0, 0, Duration.ZERO, null);

    /**
     * Checks the counts and cuts the time.
     *
     * @throws NullPointerException if {@code elapsed} is null
     * @throws IllegalArgumentException if {@code attempts} or {@code losses} is negative
     */
    public AttemptHistory {
        Bounds.integer("attempts", attempts, 0, Integer.MAX_VALUE);
        Bounds.integer("losses", losses, 0, Integer.MAX_VALUE);
        // A clock that stepped back or is far off must not break a decision.
        elapsed = Duration.ofNanos(Bounds.nanos(elapsed));
    }
}
