// SPDX-License-Identifier: Apache-2.0
package io.reprise.settings;

import io.reprise.control.BudgetSettings;
import io.reprise.retry.RetryPolicy;
import org.jspecify.annotations.Nullable;

/**
 * Settings of one job type in {@link FleetSettings}. Immutable.
 *
 * @param policy fields of the retry policy of its jobs; unset fields are as in the layer below
 * @param budget a retry budget of the jobs of this type; null for none
 * @since 0.1.0
 */
public record TypeSettings(RetryPolicy policy, @Nullable BudgetSettings budget) {

    /** Sets nothing. */
    public static final TypeSettings NONE = new TypeSettings(RetryPolicy.unset(), null);

    /** Joins these settings with those below, field by field. */
    TypeSettings orElse(TypeSettings below) {
        return new TypeSettings(policy.orElse(below.policy), budget == null ? below.budget : budget);
    }
}
