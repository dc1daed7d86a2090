// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.insight.Activity;
import io.reprise.insight.CostEntry;
import io.reprise.insight.Evidence;
import java.util.List;

/**
 * Counts that a worker collected since its last report. No two entries of a list have the same key.
 *
 * @param evidence how retries ended
 * @param spending what runs cost
 * @param activity how attempts of each type, queue, resource and error ended
 * @since 0.1.0
 */
public record WorkerCounts(List<Evidence> evidence, List<CostEntry> spending, List<Activity> activity) {

    /** Copies the lists. */
    public WorkerCounts {
        evidence = List.copyOf(evidence);
        spending = List.copyOf(spending);
        activity = List.copyOf(activity);
    }

    /** Returns whether there is nothing to report. */
    public boolean isEmpty() {
        return evidence.isEmpty() && spending.isEmpty() && activity.isEmpty();
    }
}
