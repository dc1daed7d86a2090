// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.job.JobId;
import java.time.Instant;
import java.util.Set;

/**
 * The result of settling a batch.
 *
 * @param at time of the batch, by the store's clock. The stored due time of a waiting job is exactly this time plus its
 *     delay
 * @param stale jobs whose token was not live any more; nothing was written for them
 * @param cancelled jobs that were settled to wait or to fail, and are CANCELLED instead because that was requested
 * @since 0.1.0
 */
public record Settled(Instant at, Set<JobId> stale, Set<JobId> cancelled) {

    /** Copies the sets. */
    public Settled {
        stale = Set.copyOf(stale);
        cancelled = Set.copyOf(cancelled);
    }
}
