// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

/**
 * The rate and speed of calls of the fleet to a resource while all was well. A ramp uses them as its measure. Nothing
 * that happens while the breaker holds jobs back lowers them. Immutable.
 *
 * @param rate successes per second; 0 if none is known
 * @param quickest seconds that a quick call took; 0 if none is known
 * @param tried calls per second that the fleet made when the trouble was noticed, well or not
 */
public record RateView(double rate, double quickest, double tried) {

    static final RateView UNKNOWN = new RateView(0, 0);

    RateView(double rate, double quickest) {
        this(rate, quickest, 0);
    }

    /** With the part that one more worker did. */
    RateView plus(double more, double seconds) {
        double quicker = quickest <= 0 || seconds <= 0 ? Math.max(quickest, seconds) : Math.min(quickest, seconds);
        return more <= 0 ? this : new RateView(rate + more, quicker, tried);
    }

    /** Returns the flow with the rate raised to one that the whole fleet reached. The rate is never lowered. */
    RateView atLeast(double seen) {
        return seen > rate ? new RateView(seen, quickest, tried) : this;
    }

    /** In a trouble that begins with so many calls per second. */
    RateView tried(double calls) {
        return new RateView(rate, quickest, calls);
    }
}
