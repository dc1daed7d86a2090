// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import java.util.List;

/**
 * The result of an experiment.
 *
 * @param plot a picture as SVG
 */
public record Report(String experiment, long seed, List<ReportRow> rows, String plot) {

    public Report {
        rows = List.copyOf(rows);
    }

    /**
     * Returns the first row of this policy.
     *
     * @throws IllegalArgumentException if there is none
     */
    public ReportRow row(String policy) {
        return rows.stream()
                .filter(row -> row.policy().equals(policy))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no row " + policy));
    }
}
