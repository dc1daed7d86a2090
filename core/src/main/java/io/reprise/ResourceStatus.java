// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.control.Breaker;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How a resource stands in the whole fleet.
 *
 * @param phase of its breaker
 * @param why the breaker is in this phase, in words; empty if nothing ever happened
 * @param since when it entered the phase; null if nothing ever happened
 * @param nextProbe when an open breaker lets the next probes through; null otherwise
 * @param limit calls per second that may start; null unless the breaker is ramping
 * @param inFlight calls that may be in flight at once, in the whole fleet; null unless back-pressure limits them
 * @param budget tokens left for retries
 * @param budgetCapacity the most there can be
 * @param parked jobs that wait for the breaker or the budget
 * @param force who keeps the breaker where it is; null if nobody does
 */
public record ResourceStatus(
        String name,
        Breaker.Phase phase,
        String why,
        @Nullable Instant since,
        @Nullable Instant nextProbe,
        @Nullable Double limit,
        @Nullable Double inFlight,
        double budget,
        double budgetCapacity,
        long parked,
        Breaker.@Nullable Force force) {}
