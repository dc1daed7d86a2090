// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.JobId;
import java.time.Instant;
import java.util.Set;

/**
 * What settling a batch did.
 *
 * @param at the store's time of the batch: a waiting job's stored due time is exactly this plus its delay
 * @param stale jobs whose token was no longer live; nothing was written for them
 * @param cancelled jobs that were to wait or to fail, and are CANCELLED instead because somebody asked for it meanwhile
 */
public record Settled(Instant at, Set<JobId> stale, Set<JobId> cancelled) {

    public Settled {
        stale = Set.copyOf(stale);
        cancelled = Set.copyOf(cancelled);
    }

    public Settled(Instant at, Set<JobId> stale) {
        this(at, stale, Set.of());
    }
}
