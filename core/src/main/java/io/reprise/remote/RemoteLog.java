// SPDX-License-Identifier: Apache-2.0
package io.reprise.remote;

import io.reprise.insight.LogLine;
import java.util.List;

/**
 * New log lines of a remote run. Immutable.
 *
 * @param from how many lines of this run the worker has sent before; the same lines under the same number replace
 *     themselves, so a worker that lost an answer sends them again
 * @param lines the lines, each of any text; see {@link LogLine} for the bounds
 * @since 0.1.0
 */
public record RemoteLog(int from, List<String> lines) {

    /**
     * Checks the number, and copies the lines.
     *
     * @throws IllegalArgumentException if {@code from} is negative
     */
    public RemoteLog {
        if (from < 0) {
            throw new IllegalArgumentException("from must be 0 or more, not " + from);
        }
        lines = List.copyOf(lines);
    }
}
