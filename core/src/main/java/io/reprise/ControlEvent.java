// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import java.time.Instant;

/**
 * A change in the control state of the fleet, told by the worker that made it, once, after it was stored.
 *
 * @param subject the resource or queue; empty for the budget of everything
 * @param at the time of the change
 * @param why in words
 */
public record ControlEvent(Kind kind, String subject, Instant at, String why) {

    /** What happened. */
    public enum Kind {
        BREAKER_OPENED,
        /** Probes may go through. */
        BREAKER_HALF_OPENED,
        /** Jobs are let through at a limited rate. */
        BREAKER_RAMPING,
        BREAKER_CLOSED,
        /** Retries of a resource have to wait. */
        RESOURCE_BUDGET_EMPTIED,
        /** Retries of a queue have to wait. */
        QUEUE_BUDGET_EMPTIED,
        /** All retries have to wait. */
        BUDGET_EMPTIED
    }
}
