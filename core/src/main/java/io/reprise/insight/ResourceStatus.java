// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import io.reprise.Reprise;
import io.reprise.control.BreakerPhase;
import io.reprise.control.ForcedBy;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The state of a resource in the whole fleet. Obtained from {@link Reprise#resources}. Immutable.
 *
 * @param name name of the resource
 * @param phase phase of its breaker; CLOSED if nothing but a rate that somebody set holds jobs back
 * @param why why the breaker is in this phase, in words; empty if the breaker has not left CLOSED
 * @param since when the breaker entered the phase; null if no breaker is stored
 * @param nextProbe when an open breaker admits the next probe; null in any other phase, or if a person forces the
 *     breaker
 * @param ramp how fast parked jobs are unparked; null unless the breaker is ramping or keeps a rate that somebody set
 * @param budget its retry budget
 * @param parked number of jobs that the breaker or the budget has parked
 * @param force the person who keeps the breaker open or closed; null if nobody does
 * @param calls the calls that a closed breaker counts; null if it is not closed or has counted none
 * @since 0.1.0
 */
public record ResourceStatus(
        String name,
        BreakerPhase phase,
        String why,
        @Nullable Instant since,
        @Nullable Instant nextProbe,
        @Nullable RampStatus ramp,
        BudgetStatus budget,
        long parked,
        @Nullable ForcedBy force,
        @Nullable CallStatus calls) {

    /**
     * The calls of the recent past that decide whether a closed breaker opens. Workers report calls while some fail.
     * Immutable.
     *
     * @param calls number of calls that say something about the resource
     * @param failed those that count against the resource
     * @param streak number of such failures in a row
     * @param opensAt share of failures at which the breaker opens, above 0 and at most 1
     * @param leastCalls number of calls below which the share does not count
     * @param opensAfter number of failures in a row at which the breaker opens
     * @param within how far back the share looks
     */
    public record CallStatus(
            int calls, int failed, int streak, double opensAt, int leastCalls, int opensAfter, Duration within) {}

    /**
     * The pace at which a breaker unparks jobs. Immutable.
     *
     * @param rate calls per second that may start now, in the whole fleet
     * @param aim calls per second to which the rate grows quickly; null if the rate is there already, or if no rate is
     *     known
     * @param why what bounds the rate now, or what it grows to, in words
     * @param inFlight number of calls that may be in flight at once; null unless back-pressure limits them
     * @param through estimated time until all jobs that the breaker has parked are unparked, if calls go on as they do
     *     now
     */
    public record RampStatus(
            double rate,
            @Nullable Double aim,
            String why,
            @Nullable Double inFlight,
            Duration through) {}

    /**
     * The state of a retry budget. Immutable.
     *
     * @param level credit that is left for retries; below 0 if several workers spent the last credit at the same time
     * @param capacity the most credit that the budget holds while no retry waits
     * @param waiting number of retries that are parked until the budget can pay for them
     * @param through estimated time until these are unparked, at the pace of the last seconds; null if none waits
     */
    public record BudgetStatus(
            double level,
            double capacity,
            long waiting,
            @Nullable Duration through) {}
}
