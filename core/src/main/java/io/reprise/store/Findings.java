// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.util.List;

/** What a worker has counted since it last told. No two entries of a list are about the same. */
public record Findings(List<Evidence> evidence, List<Spending> spending, List<Activity> activity) {

    public Findings {
        evidence = List.copyOf(evidence);
        spending = List.copyOf(spending);
        activity = List.copyOf(activity);
    }

    public boolean isEmpty() {
        return evidence.isEmpty() && spending.isEmpty() && activity.isEmpty();
    }
}
