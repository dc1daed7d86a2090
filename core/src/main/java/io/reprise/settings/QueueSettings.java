// SPDX-License-Identifier: Apache-2.0
package io.reprise.settings;

import io.reprise.fairness.GroupRules;
import io.reprise.retry.RetryPolicy;
import org.jspecify.annotations.Nullable;

/**
 * Settings of one queue in {@link FleetSettings}. Immutable.
 *
 * @param policy fields of the retry policy of its jobs; unset fields are as in the layer below
 * @param ceilings ceilings of its jobs; those that are not set are the fleet's
 * @param order order of its jobs; null for {@link ClaimOrder#SHARE}
 * @param rules weights and limits of its groups and types, and its rate; {@link GroupRules#EQUAL} for those of the code
 * @since 0.1.0
 */
public record QueueSettings(
        RetryPolicy policy, Ceilings ceilings, @Nullable ClaimOrder order, GroupRules rules) {

    /** Sets nothing. */
    public static final QueueSettings NONE =
            new QueueSettings(RetryPolicy.unset(), Ceilings.NONE, null, GroupRules.EQUAL);

    /** Joins these settings with those below, field by field. */
    QueueSettings orElse(QueueSettings below) {
        return new QueueSettings(
                policy.orElse(below.policy),
                ceilings.orElse(below.ceilings),
                order == null ? below.order : order,
                rules.orElse(below.rules));
    }
}
