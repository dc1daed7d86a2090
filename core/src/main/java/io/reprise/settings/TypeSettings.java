// SPDX-License-Identifier: Apache-2.0
package io.reprise.settings;

import io.reprise.control.BudgetSettings;
import io.reprise.retry.RetryPolicy;
import io.reprise.text.Bounds;
import org.jspecify.annotations.Nullable;

/**
 * Settings of one job type in {@link FleetSettings}. Immutable.
 *
 * @param policy fields of the retry policy of its jobs; unset fields are as in the layer below
 * @param budget a retry budget of the jobs of this type; null for none
 * @param concurrency how many jobs of this type each worker runs at once, 1 to 10,000; null for the number below
 * @since 0.1.0
 */
public record TypeSettings(
        RetryPolicy policy,
        @Nullable BudgetSettings budget,
        @Nullable Integer concurrency) {

    /** Sets nothing. */
    public static final TypeSettings NONE = new TypeSettings(RetryPolicy.unset(), null, null);

    /**
     * Checks the number.
     *
     * @throws IllegalArgumentException if it is outside its bounds
     */
    public TypeSettings {
        if (concurrency != null) {
            Bounds.integer("concurrency", concurrency, 1, 10_000);
        }
    }

    /** Joins these settings with those below, field by field. */
    TypeSettings orElse(TypeSettings below) {
        return new TypeSettings(
                policy.orElse(below.policy),
                budget == null ? below.budget : budget,
                concurrency == null ? below.concurrency : concurrency);
    }
}
