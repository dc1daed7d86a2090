// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

/**
 * The rate and speed of calls of the fleet to a resource while all was well. A ramp uses them as its measure. Nothing
 * that happens while the breaker holds jobs back lowers them. Immutable.
 *
 * @param rate successes per second; 0 if not known
 * @param quickest seconds that a quick call took; 0 if not known
 * @since 0.1.0
 */
public record Flow(double rate, double quickest) {

    static final Flow UNKNOWN = new Flow(0, 0);

    /** Returns the flow with the part of one more worker. */
    Flow plus(double more, double seconds) {
        double quicker = quickest <= 0 || seconds <= 0 ? Math.max(quickest, seconds) : Math.min(quickest, seconds);
        return more <= 0 ? this : new Flow(rate + more, quicker);
    }

    /** Returns the flow with the rate raised to one that the whole fleet reached. The rate is never lowered. */
    Flow atLeast(double seen) {
        return seen > rate ? new Flow(seen, quickest) : this;
    }
}
