// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.control.BreakerSettings;
import io.reprise.control.BudgetSettings;
import io.reprise.fairness.FlowLimit;
import io.reprise.job.JobSpec;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
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
 * @param rate calls of jobs with this resource that may start in a time, in the whole fleet; {@link FlowLimit#NONE} for any
 *     number
 * @since 0.1.0
 */
public record Resource(
        String name,
        @Nullable BreakerSettings breaker,
        @Nullable BudgetSettings budget,
        RetryPolicy policy,
        FlowLimit rate) {

    /**
     * Checks the name.
     *
     * @throws IllegalArgumentException if {@code name} does not have the form of {@link JobSpec#requireName}
     */
    public Resource {
        JobSpec.requireName("resource", name);
        if (rate.running() != null) {
            throw new IllegalArgumentException("the rate of resource '" + name + "' must not limit what runs");
        }
    }

    /**
     * Creates settings that equal those of the worker, without a policy.
     *
     * @throws IllegalArgumentException if {@code name} does not have the form of {@link JobSpec#requireName}
     */
    public static Resource of(String name) {
        return new Resource(name, null, null, RetryPolicy.unset(), FlowLimit.NONE);
    }

    /** Sets the breaker. The default is {@link io.reprise.control.ControlSettings#breaker} of the worker. */
    public Resource breaker(BreakerSettings settings) {
        return new Resource(name, settings, budget, policy, rate);
    }

    /**
     * Sets the retry budget. The default is {@link io.reprise.control.ControlSettings#resourceBudget} of the worker.
     */
    public Resource budget(BudgetSettings settings) {
        return new Resource(name, breaker, settings, policy, rate);
    }

    /**
     * Sets the retry policy, for instance with rules for the error codes of a provider. It applies below those of job
     * and type, and above that of the queue. The default is {@link RetryPolicy#unset}.
     */
    public Resource retry(RetryPolicy policy) {
        return new Resource(name, breaker, budget, policy, rate);
    }

    /**
     * Limits how many jobs of this resource start in a time, in the whole fleet: the quota of a provider. Starts are
     * evenly spaced; at most the starts of half a second come at once. Jobs above the rate are parked and released at the
     * rate. The default is no limit. It can be changed at run time; see docs/fairness.md.
     *
     * @param starts 1 to 1,000,000
     * @param per 1 ms to 1 day
     * @throws IllegalArgumentException if a value is outside these bounds
     */
    public Resource rate(int starts, Duration per) {
        return new Resource(name, breaker, budget, policy, FlowLimit.rate(starts, per));
    }
}
