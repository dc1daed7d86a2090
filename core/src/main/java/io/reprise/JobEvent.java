// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.retry.Decision;
import io.reprise.retry.Failure;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A transition of a job, told after it was committed, with the very values that were stored.
 *
 * @param resource the downstream thing the job calls, if it names one
 * @param attempt the counted attempt concerned, from 1; 0 if it has not run
 * @param at the store's time of the transition
 * @param firstDueAt when the job's current life began, so that {@code at} less this is how long it has taken so far
 * @param firstFailedAt when the first counted run of that life failed; set when a retry succeeded, as far as it is known
 * @param ran how long the run took that ended; null if none did
 * @param dueAt when the job comes back; set exactly if it is PENDING now
 */
public record JobEvent(
        Kind kind,
        JobId id,
        String type,
        String queue,
        @Nullable String resource,
        int attempt,
        Instant at,
        Instant firstDueAt,
        @Nullable Instant firstFailedAt,
        @Nullable Duration ran,
        @Nullable Instant dueAt,
        @Nullable Failure failure,
        @Nullable Decision decision) {

    /** What happened. */
    public enum Kind {
        ENQUEUED,
        STARTED,
        SUCCEEDED,
        RETRY_SCHEDULED,
        FAILED,
        SNOOZED,
        /** Given back unfinished by a worker that shut down, or that has no handler for it while another has. */
        RELEASED,
        /** Set aside before it ran, because the breaker of its resource holds it back; no attempt was spent. */
        PARKED,
        /** Its worker lost the lease. Followed by RELEASED, RETRY_SCHEDULED or FAILED. */
        LOST,
        CANCELLED,
        /** Put back by hand: retried or replayed. */
        REVIVED,
        DISCARDED,
        /** A run ended after its lease was gone; its outcome was refused and changed nothing. */
        STALE
    }
}
