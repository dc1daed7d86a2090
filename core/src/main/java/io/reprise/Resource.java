// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.control.BreakerSettings;
import io.reprise.control.BudgetSettings;
import io.reprise.job.JobSpec;
import io.reprise.retry.RetryPolicy;
import org.jspecify.annotations.Nullable;

/**
 * The settings with which a worker treats jobs that call one downstream system. Jobs name it by
 * {@link JobRequest#resource}. Give all workers of a fleet the same settings. Immutable: each method returns a copy,
 * and the last call of a method wins.
 *
 * @param name name of the resource
 * @param breaker settings of its breaker; null for those of the worker
 * @param budget settings of its retry budget; null for those of the worker
 * @param policy retry policy of jobs that name this resource, below those of job and type and above that of the queue
 * @since 0.1.0
 */
public record Resource(
        String name,
        @Nullable BreakerSettings breaker,
        @Nullable BudgetSettings budget,
        RetryPolicy policy) {

    /**
     * Checks the name.
     *
     * @throws IllegalArgumentException if {@code name} does not have the form of {@link JobSpec#requireName}
     */
    public Resource {
        JobSpec.requireName("resource", name);
    }

    /**
     * Creates settings that equal those of the worker, without a policy.
     *
     * @throws IllegalArgumentException if {@code name} does not have the form of {@link JobSpec#requireName}
     */
    public static Resource of(String name) {
        return new Resource(name, null, null, RetryPolicy.unset());
    }

    /** Sets the breaker. The default is {@link io.reprise.control.ControlSettings#breaker} of the worker. */
    public Resource breaker(BreakerSettings settings) {
        return new Resource(name, settings, budget, policy);
    }

    /**
     * Sets the retry budget. The default is {@link io.reprise.control.ControlSettings#resourceBudget} of the worker.
     */
    public Resource budget(BudgetSettings settings) {
        return new Resource(name, breaker, settings, policy);
    }

    /**
     * Sets the retry policy, for instance with rules for the error codes of a provider. It applies below those of job
     * and type, and above that of the queue. The default is {@link RetryPolicy#unset}.
     */
    public Resource retry(RetryPolicy policy) {
        return new Resource(name, breaker, budget, policy);
    }
}
