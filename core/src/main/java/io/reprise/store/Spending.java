// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

/**
 * What runs with one cause cost, in one unit.
 *
 * @param unit {@link #SECONDS}, or one that handlers report in
 * @param runs runs that cost anything in this unit
 * @param successes those of them that succeeded
 * @param amount cost of all of them
 * @param wasted cost of those that did not succeed
 */
public record Spending(Cause cause, String unit, long runs, long successes, double amount, double wasted) {

    /** Time that handlers ran. Every run has it. */
    public static final String SECONDS = "seconds";

    /** The same of another cause. */
    public Spending of(Cause other) {
        return new Spending(other, unit, runs, successes, amount, wasted);
    }

    public Spending plus(Spending more) {
        return new Spending(
                cause, unit, runs + more.runs, successes + more.successes, amount + more.amount, wasted + more.wasted);
    }
}
