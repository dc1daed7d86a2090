// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.time.Instant;

/**
 * A worker that lives, as far as is known.
 *
 * @param report what it last said of itself
 * @param since when it first checked in
 * @param seenAt when it last did
 */
public record WorkerState(WorkerReport report, Instant since, Instant seenAt) {

    public String name() {
        return report.name();
    }
}
