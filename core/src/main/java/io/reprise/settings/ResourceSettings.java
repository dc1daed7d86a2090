// SPDX-License-Identifier: Apache-2.0
package io.reprise.settings;

import io.reprise.control.BreakerSettings;
import io.reprise.control.BudgetSettings;
import io.reprise.fairness.FlowLimit;
import io.reprise.retry.RetryPolicy;
import org.jspecify.annotations.Nullable;

/**
 * Settings of one resource in {@link FleetSettings}. Immutable.
 *
 * @param policy fields of the retry policy of jobs that name this resource; unset fields are as in the layer below
 * @param breaker settings of its breaker, which also shape its ramp; null for those below
 * @param budget settings of its retry budget; null for those below
 * @param rate calls that may start in a time in the whole fleet; null for the rate below, {@link FlowLimit#NONE} for any
 * @since 0.1.0
 */
public record ResourceSettings(
        RetryPolicy policy,
        @Nullable BreakerSettings breaker,
        @Nullable BudgetSettings budget,
        @Nullable FlowLimit rate) {

    /** Sets nothing. */
    public static final ResourceSettings NONE = new ResourceSettings(RetryPolicy.unset(), null, null, null);

    /**
     * Checks the rate.
     *
     * @throws IllegalArgumentException if it limits what runs
     */
    public ResourceSettings {
        if (rate != null && rate.running() != null) {
            throw new IllegalArgumentException("the rate of a resource must not limit what runs");
        }
    }

    /** Whether somebody wrote a burst. The ramp that keeps the rate has none. */
    boolean hasUselessBurst() {
        return rate != null
                && rate.starts() != null
                && rate.per() != null
                && rate.burst() != FlowLimit.rate(rate.starts(), rate.per()).burst();
    }

    /** Joins these settings with those below, field by field. */
    ResourceSettings orElse(ResourceSettings below) {
        return new ResourceSettings(
                policy.orElse(below.policy),
                breaker == null ? below.breaker : breaker,
                budget == null ? below.budget : budget,
                rate == null ? below.rate : rate);
    }
}
