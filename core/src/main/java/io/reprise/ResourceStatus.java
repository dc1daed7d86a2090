// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.control.Breaker;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The state of a resource in the whole fleet.
 *
 * @param phase phase of its breaker
 * @param why why the breaker is in this phase, in words; empty if nothing ever happened
 * @param since when the breaker entered the phase; null if nothing ever happened
 * @param nextProbe when an open breaker lets the next probe through; null otherwise
 * @param ramp how parked jobs are let go; null unless the breaker is ramping
 * @param budget its retry budget
 * @param parked jobs that wait for the breaker or the budget
 * @param force the person who keeps the breaker open or closed; null if nobody does
 */
public record ResourceStatus(
        String name,
        Breaker.Phase phase,
        String why,
        @Nullable Instant since,
        @Nullable Instant nextProbe,
        @Nullable RampStatus ramp,
        BudgetStatus budget,
        long parked,
        Breaker.@Nullable Force force) {

    /**
     * How a breaker lets parked jobs go.
     *
     * @param rate calls per second that may start now, in the whole fleet
     * @param aim calls per second to which the rate grows quickly; null if it is there already, or if no rate is known
     * @param why what bounds the rate now, or what it grows to, in words
     * @param inFlight calls that may be in flight at once; null unless back-pressure limits them
     * @param through estimated time until the jobs that the breaker has parked are let go, if calls go on as they do
     */
    public record RampStatus(
            double rate,
            @Nullable Double aim,
            String why,
            @Nullable Double inFlight,
            Duration through) {}

    /**
     * A retry budget.
     *
     * @param level tokens left for retries; below 0 if several workers spent the last ones at once
     * @param capacity the most tokens there are while no retry waits
     * @param waiting retries that wait for tokens
     * @param through estimated time until these are let go, at the pace of the last seconds; null if none waits
     */
    public record BudgetStatus(
            double level,
            double capacity,
            long waiting,
            @Nullable Duration through) {}
}
