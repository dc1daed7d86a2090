// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

/**
 * The cost of runs with one cause, in one unit.
 *
 * @param cause type, resource and error that the runs followed
 * @param unit {@link #SECONDS}, or a unit in which handlers report costs
 * @param runs runs that cost anything in this unit
 * @param successes runs of these that succeeded
 * @param amount cost of all these runs
 * @param wasted cost of the runs that did not succeed
 * @since 0.1.0
 */
public record Spending(Cause cause, String unit, long runs, long successes, double amount, double wasted) {

    /** The unit of the time that handlers ran. Every run has it. */
    public static final String SECONDS = "seconds";

    /** Returns this spending under another cause. */
    public Spending of(Cause other) {
        return new Spending(other, unit, runs, successes, amount, wasted);
    }

    /** Returns the sum of both, with cause and unit of this one. */
    public Spending plus(Spending more) {
        return new Spending(
                cause, unit, runs + more.runs, successes + more.successes, amount + more.amount, wasted + more.wasted);
    }
}
