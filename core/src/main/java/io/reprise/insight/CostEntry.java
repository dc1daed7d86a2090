// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import io.reprise.job.JobSpec;

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

    /** The greatest number of units in which one run may report its cost. */
    public static final int MAX_UNITS = 8;

    private static final double MAX_AMOUNT = 1e12;

    /**
     * Checks a reported cost.
     *
     * @param unit a name with the form of {@link JobSpec#requireName}, but not {@value #SECONDS}
     * @param amount 0 to 1e12
     * @throws IllegalArgumentException if one of them is not allowed
     */
    public static void requireCost(String unit, double amount) {
        JobSpec.requireName("unit", unit);
        if (!(amount >= 0 && amount <= MAX_AMOUNT)) {
            throw new IllegalArgumentException("cost must be 0 to " + MAX_AMOUNT + ", not " + amount);
        }
        if (unit.equals(SECONDS)) {
            throw new IllegalArgumentException("The time a run takes is counted in any case; use another unit");
        }
    }

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
