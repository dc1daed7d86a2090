// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

/**
 * How many retries may be in flight that no success has paid for. A retry costs 14 tokens, 5 if it was throttled; a
 * success brings 1, and that of a retry 21: retries of which two thirds succeed pay for themselves. Immutable: each method returns a copy.
 *
 * @param enabled whether retries are held back at all
 * @param capacity the most tokens there can be, and what there is at first
 * @param floor retries per second that are granted whatever happens, so that nothing waits for ever
 */
public record BudgetSettings(boolean enabled, double capacity, double floor) {

    /** For each resource: 35 retries without a success, then one for 14 successes, or one per second. */
    public static final BudgetSettings OF_RESOURCE = new BudgetSettings(true, 500, 1);

    /**
     * For each queue: 35,000 retries. Jobs of a queue call many things, so this is no more than a bound on storms; a
     * resource in trouble meets its own budget long before.
     */
    public static final BudgetSettings OF_QUEUE = new BudgetSettings(true, 490_000, 1);

    /** For everything together: twice as much. */
    public static final BudgetSettings OF_ALL = new BudgetSettings(true, 980_000, 1);

    public BudgetSettings {
        Checks.inRange("capacity", capacity, RetryBudget.DEAREST, 1e9);
        Checks.inRange("floor", floor, 0.001, 1e6);
    }

    public BudgetSettings capacity(double tokens) {
        return new BudgetSettings(enabled, tokens, floor);
    }

    public BudgetSettings floor(double retriesPerSecond) {
        return new BudgetSettings(enabled, capacity, retriesPerSecond);
    }

    /** The same without effect: every retry is granted. */
    public BudgetSettings off() {
        return new BudgetSettings(false, capacity, floor);
    }
}
