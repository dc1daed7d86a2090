// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A schedule as stored. The store does not read {@code rule}: the engine parses it.
 *
 * @param name name of the schedule
 * @param rule text of the rule that says when it fires
 * @param job the job that each firing enqueues
 * @param paused whether it is paused
 * @param nextAt the next firing; {@link #NEVER} if it has ended
 * @param lastJob the job that the latest firing enqueued; null if there was none
 * @since 0.1.0
 */
public record StoredSchedule(
        String name,
        String rule,
        JobSpec job,
        boolean paused,
        Instant nextAt,
        @Nullable JobId lastJob) {

    /** The next firing of a schedule that has ended. */
    public static final Instant NEVER = Instant.parse("9999-12-31T00:00:00Z");

    /** Returns whether it fires no more. */
    public boolean ended() {
        return !nextAt.isBefore(NEVER);
    }
}
