// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

import io.reprise.text.Bounds;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a retry budget, which bounds the retries that no success has paid for. A retry costs 14 credits, or 5
 * if it was throttled. A success earns 1 credit, and the success of a retry 21. So retries pay for themselves if two
 * thirds of them succeed.
 *
 * <p>A budget with a {@link Rate} is plain: so many retries per period, whatever succeeds.
 *
 * <p>Immutable: each method returns a copy, checks its value at once, and the last call of a method wins.
 *
 * @param enabled whether the budget parks retries that it cannot pay for
 * @param capacity the most credit that the budget holds, and the credit of a new budget; 14 to 1e9
 * @param floor number of retries per second that are granted in any case, so that no retry waits without end; 0.001 to
 *     1e6
 * @param rate a plain number of retries per period, from which capacity and floor follow; null for credit that successes
 *     earn
 * @param overflow whether a retry beyond the budget waits or fails its job
 * @since 0.1.0
 */
public record BudgetSettings(
        boolean enabled,
        double capacity,
        double floor,
        @Nullable Rate rate,
        Overflow overflow) {

    /** The fate of a retry that the budget cannot pay for. */
    public enum Overflow {
        /** The retry is parked until the budget can pay for it. */
        WAIT,
        /** The job fails with reason BUDGET. */
        FAIL
    }

    /**
     * A plain number of retries per period: so many at once, and as many again evenly over each period.
     *
     * @param retries 1 to 1,000,000
     * @param per 1 second to 366 days
     */
    public record Rate(int retries, Duration per) {

        private static final Duration LONGEST = Duration.ofDays(366);

        /**
         * Checks both values.
         *
         * @throws IllegalArgumentException if a value is outside its bounds
         */
        public Rate {
            Checks.inRange("retries", retries, 1, 1e6);
            if (per.compareTo(Duration.ofSeconds(1)) < 0 || per.compareTo(LONGEST) > 0) {
                throw Bounds.refused("per", per, "PT1S to " + LONGEST);
            }
        }
    }

    /** The least capacity: it pays for one retry. */
    public static final double MIN_CAPACITY = 14;

    /**
     * The default for each resource: 500 credits, about 35 retries without a success, and a floor of one retry per
     * second.
     */
    public static final BudgetSettings OF_RESOURCE = new BudgetSettings(true, 500, 1);

    /**
     * The default for each queue: 490,000 credits, 35,000 retries. Jobs of a queue call many resources, so this budget
     * only bounds storms. The budget of a resource in trouble is empty long before.
     */
    public static final BudgetSettings OF_QUEUE = new BudgetSettings(true, 490_000, 1);

    /** The default for all jobs together: 980,000 credits, twice as much as for a queue. */
    public static final BudgetSettings OF_ALL = new BudgetSettings(true, 980_000, 1);

    /**
     * Checks all values.
     *
     * @throws IllegalArgumentException if a value is outside its bounds
     */
    public BudgetSettings {
        if (rate == null) {
            Checks.inRange("capacity", capacity, MIN_CAPACITY, 1e9);
            Checks.inRange("floor", floor, 0.001, 1e6);
        } else {
            capacity = rate.retries * MIN_CAPACITY;
            floor = rate.retries * 1e3 / rate.per.toMillis();
        }
    }

    /**
     * Creates a budget that successes fill, and whose retries wait.
     *
     * @throws IllegalArgumentException if a value is outside its bounds
     */
    public BudgetSettings(boolean enabled, double capacity, double floor) {
        this(enabled, capacity, floor, null, Overflow.WAIT);
    }

    /**
     * Returns a copy that grants a plain number of retries per period. Capacity and floor follow from it.
     *
     * @param retries 1 to 1,000,000
     * @param per 1 second to 366 days
     * @throws IllegalArgumentException if a value is outside its bounds
     */
    public BudgetSettings rate(int retries, Duration per) {
        return new BudgetSettings(enabled, capacity, floor, new Rate(retries, per), overflow);
    }

    /** Sets the fate of a retry beyond the budget. The default is {@link Overflow#WAIT}. */
    public BudgetSettings overflow(Overflow what) {
        return new BudgetSettings(enabled, capacity, floor, rate, what);
    }

    /**
     * Sets the most credit that the budget holds.
     *
     * @param credits credits, 14 to 1e9
     * @throws IllegalArgumentException if {@code credits} is outside these bounds
     */
    public BudgetSettings capacity(double credits) {
        return new BudgetSettings(enabled, credits, floor, null, overflow);
    }

    /**
     * Sets the number of retries per second that are granted in any case. The default is 1.
     *
     * @param retriesPerSecond 0.001 to 1e6
     * @throws IllegalArgumentException if {@code retriesPerSecond} is outside these bounds
     */
    public BudgetSettings floor(double retriesPerSecond) {
        return new BudgetSettings(enabled, capacity, retriesPerSecond, null, overflow);
    }

    /** Returns a copy that grants every retry. */
    public BudgetSettings off() {
        return new BudgetSettings(false, capacity, floor, rate, overflow);
    }
}
