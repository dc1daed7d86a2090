// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import io.reprise.fairness.FlowGate;
import io.reprise.fairness.FlowLimit;

/**
 * A limit of a queue, and where it was set.
 *
 * @param of what is limited: each group, a job type, or the whole queue
 * @param name name of the group, or its beginning and {@code *}; name of the type; empty for the queue
 * @param limit the limit; {@link FlowLimit#NONE} if the settings take one of the code away
 * @param from where it was set
 * @param workers live workers that have it in their code; 0 if it comes from the settings
 * @since 0.1.0
 */
public record QueueLimit(FlowGate.Reached.Of of, String name, FlowLimit limit, From from, int workers) {

    /** Where a limit was set. */
    public enum From {

        /** In the code of workers. */
        CODE,

        /** In the settings of the fleet, which come before the code. */
        SETTINGS
    }
}
