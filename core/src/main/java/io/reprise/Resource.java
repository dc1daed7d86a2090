// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.control.BreakerSettings;
import io.reprise.control.BudgetSettings;
import io.reprise.retry.RetryPolicy;
import org.jspecify.annotations.Nullable;

/**
 * How a worker treats jobs that call one downstream thing. Immutable: each method returns a copy.
 *
 * @param breaker its own breaker's settings; null for those of the worker
 * @param budget its own retry budget's settings; null for those of the worker
 * @param policy for jobs that name this resource: below their own and their type's, above their queue's
 */
public record Resource(
        String name,
        @Nullable BreakerSettings breaker,
        @Nullable BudgetSettings budget,
        RetryPolicy policy) {

    public Resource {
        JobSpec.requireName("resource", name);
    }

    public static Resource of(String name) {
        return new Resource(name, null, null, RetryPolicy.unset());
    }

    public Resource breaker(BreakerSettings settings) {
        return new Resource(name, settings, budget, policy);
    }

    public Resource budget(BudgetSettings settings) {
        return new Resource(name, breaker, settings, policy);
    }

    /** Rules, delays and limits for this resource, as a provider's error codes demand them. */
    public Resource retry(RetryPolicy policy) {
        return new Resource(name, breaker, budget, policy);
    }
}
