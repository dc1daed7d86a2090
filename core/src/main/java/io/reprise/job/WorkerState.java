// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import java.time.Instant;

/**
 * A worker that counts as alive.
 *
 * @param report its latest report
 * @param since when it first checked in
 * @param seenAt when it last checked in
 * @since 0.1.0
 */
public record WorkerState(WorkerReport report, Instant since, Instant seenAt) {

    /** Returns the name of the worker. */
    public String name() {
        return report.name();
    }
}
