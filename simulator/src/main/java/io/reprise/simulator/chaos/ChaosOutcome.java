// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.history.Violation;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The outcome of one world. */
record ChaosOutcome(
        ChaosPlan plan, List<Violation> violations, List<ChaosLog.Line> lines, Map<Fault, Long> faults, long nanos) {

    boolean isFailed() {
        return !violations.isEmpty();
    }

    /** Returns all events, one per line. */
    String trace() {
        return lines.stream().map(ChaosLog.Line::toString).collect(Collectors.joining("\n", "", "\n"));
    }
}
