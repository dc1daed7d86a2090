// SPDX-License-Identifier: Apache-2.0
package io.reprise.remote;

import io.reprise.RemoteWorkers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer to {@link RemoteWorkers#join}. Immutable.
 *
 * @param suspended whether the run has ended, because jobs are open; the next run asks again
 * @param results results of the jobs as JSON text in their order, null for a job without one; empty while the run is
 *     suspended, and if a job failed
 * @param failure which job is a dead letter or was cancelled, and why; null if none is
 * @since 0.1.0
 */
public record RemoteJoin(
        boolean suspended,
        List<@Nullable String> results,
        @Nullable String failure) {

    /** Copies the list. */
    public RemoteJoin {
        results = Collections.unmodifiableList(new ArrayList<>(results));
    }
}
