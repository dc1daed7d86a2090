// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import java.util.List;

/**
 * What an experiment found.
 *
 * @param plot an SVG picture of it
 */
public record Report(String experiment, long seed, List<Row> rows, String plot) {

    public Report {
        rows = List.copyOf(rows);
    }

    /** The first row of this policy. @throws IllegalArgumentException if there is none */
    public Row row(String policy) {
        return rows.stream()
                .filter(row -> row.policy().equals(policy))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no row " + policy));
    }
}
