// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.JobId;
import java.util.Set;

/**
 * Answer to a renewal.
 *
 * @param lost tokens that are no longer live: their jobs must be abandoned at once
 * @param cancelled jobs under the renewed leases that somebody asked to cancel
 */
public record Renewal(Set<Long> lost, Set<JobId> cancelled) {

    public Renewal {
        lost = Set.copyOf(lost);
        cancelled = Set.copyOf(cancelled);
    }
}
