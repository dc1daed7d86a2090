// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

/**
 * The control plane of a worker: breakers of resources, and budgets of resources, queues and everything together. Give
 * all workers of a fleet the same: whoever has something to report moves the shared state on by its own settings.
 * Immutable: each method returns a copy.
 */
public record ControlSettings(
        BreakerSettings breaker, BudgetSettings resourceBudget, BudgetSettings queueBudget, BudgetSettings budget) {

    public static final ControlSettings DEFAULT = new ControlSettings(
            BreakerSettings.DEFAULT, BudgetSettings.OF_RESOURCE, BudgetSettings.OF_QUEUE, BudgetSettings.OF_ALL);

    /** Neither breakers nor budgets. What others parked is let go. */
    public static ControlSettings off() {
        return new ControlSettings(
                BreakerSettings.off(), DEFAULT.resourceBudget.off(), DEFAULT.queueBudget.off(), DEFAULT.budget.off());
    }

    /** The breaker of every resource that has none of its own. */
    public ControlSettings breaker(BreakerSettings settings) {
        return new ControlSettings(settings, resourceBudget, queueBudget, budget);
    }

    /** The budget of every resource that has none of its own. */
    public ControlSettings resourceBudget(BudgetSettings settings) {
        return new ControlSettings(breaker, settings, queueBudget, budget);
    }

    /** The budget of every queue. */
    public ControlSettings queueBudget(BudgetSettings settings) {
        return new ControlSettings(breaker, resourceBudget, settings, budget);
    }

    /** The budget of everything together. */
    public ControlSettings budget(BudgetSettings settings) {
        return new ControlSettings(breaker, resourceBudget, queueBudget, settings);
    }
}
