// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.job.JobId;
import java.util.Set;

/**
 * The answer to a renewal of leases.
 *
 * @param lost tokens that are not live any more: the worker must abandon their jobs at once
 * @param cancelled jobs under the renewed leases whose cancellation was requested
 * @since 0.1.0
 */
public record Renewal(Set<Long> lost, Set<JobId> cancelled) {

    /** Copies the sets. */
    public Renewal {
        lost = Set.copyOf(lost);
        cancelled = Set.copyOf(cancelled);
    }
}
