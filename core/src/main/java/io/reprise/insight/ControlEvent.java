// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import java.time.Instant;

/**
 * A change of a breaker or a budget of the fleet. The worker that made the change tells its own listeners once, after
 * the change was stored. Immutable.
 *
 * @param kind the change
 * @param subject name of the resource or queue; for the budget of all jobs empty, or the beginning of the queues of
 *     their owner, such as {@code acme/}
 * @param at time of the change, by the store's clock
 * @param why the reason in words
 * @since 0.1.0
 */
public record ControlEvent(Kind kind, String subject, Instant at, String why) {

    /** The kind of change. */
    public enum Kind {
        /**
         * The breaker of a resource opened: its jobs are parked, and no call is made until the next probe. Also after a
         * failed probe, and when a person forces the breaker open.
         */
        BREAKER_OPENED,

        /** The breaker admits one probe, to see whether the resource is back. */
        BREAKER_HALF_OPENED,
        /** The breaker admits jobs at a limited rate, after a probe succeeded or because calls were throttled. */
        BREAKER_RAMPING,
        /** The breaker holds no job back any more, or a person forces it closed. */
        BREAKER_CLOSED,
        /** The budget of a resource cannot pay for another retry: retries of the resource are parked until it can. */
        RESOURCE_BUDGET_EMPTIED,
        /** The budget of a queue cannot pay for another retry: retries of the queue are parked until it can. */
        QUEUE_BUDGET_EMPTIED,
        /** The budget of a job type cannot pay for another retry: retries of the type wait or fail. */
        TYPE_BUDGET_EMPTIED,
        /** The budget of all jobs cannot pay for another retry: all retries are parked until it can. */
        BUDGET_EMPTIED
    }
}
