// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

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
public record CostEntry(ErrorKey cause, String unit, long runs, long successes, double amount, double wasted) {

    /** The unit of the time that handlers ran. Every run has it. */
    public static final String SECONDS = "seconds";

    /** Returns this spending under another cause. */
    public CostEntry of(ErrorKey other) {
        return new CostEntry(other, unit, runs, successes, amount, wasted);
    }

    /** Returns the sum of both, with cause and unit of this one. */
    public CostEntry plus(CostEntry more) {
        return new CostEntry(
                cause, unit, runs + more.runs, successes + more.successes, amount + more.amount, wasted + more.wasted);
    }
}
