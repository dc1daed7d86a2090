// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

/**
 * The settings of breakers and budgets of a worker. Give all workers of a fleet the same settings: each worker changes
 * the shared state by its own. Immutable: each method returns a copy, and the last call of a method wins.
 *
 * @param breaker breaker of each resource that has no breaker settings of its own
 * @param resourceBudget budget of each resource that has no budget settings of its own
 * @param queueBudget budget of each queue
 * @param budget budget of all jobs together
 * @since 0.1.0
 */
public record ControlSettings(
        BreakerSettings breaker, BudgetSettings resourceBudget, BudgetSettings queueBudget, BudgetSettings budget) {

    /** The default settings of breaker and budgets, all enabled. */
    public static final ControlSettings DEFAULT = new ControlSettings(
            BreakerSettings.DEFAULT, BudgetSettings.OF_RESOURCE, BudgetSettings.OF_QUEUE, BudgetSettings.OF_ALL);

    /**
     * Returns settings without breakers and budgets. If all workers have these settings, the leading worker unparks all
     * jobs after about 15 s.
     */
    public static ControlSettings off() {
        return new ControlSettings(
                BreakerSettings.off(), DEFAULT.resourceBudget.off(), DEFAULT.queueBudget.off(), DEFAULT.budget.off());
    }

    /**
     * Sets the breaker of each resource that has no breaker settings of its own. The default is
     * {@link BreakerSettings#DEFAULT}.
     */
    public ControlSettings breaker(BreakerSettings settings) {
        return new ControlSettings(settings, resourceBudget, queueBudget, budget);
    }

    /**
     * Sets the budget of each resource that has no budget settings of its own. The default is
     * {@link BudgetSettings#OF_RESOURCE}.
     */
    public ControlSettings resourceBudget(BudgetSettings settings) {
        return new ControlSettings(breaker, settings, queueBudget, budget);
    }

    /** Sets the budget of each queue. The default is {@link BudgetSettings#OF_QUEUE}. */
    public ControlSettings queueBudget(BudgetSettings settings) {
        return new ControlSettings(breaker, resourceBudget, settings, budget);
    }

    /** Sets the budget of all jobs together. The default is {@link BudgetSettings#OF_ALL}. */
    public ControlSettings budget(BudgetSettings settings) {
        return new ControlSettings(breaker, resourceBudget, queueBudget, settings);
    }
}
