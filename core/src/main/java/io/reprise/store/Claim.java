// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.Job;
import io.reprise.JobId;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/**
 * A lease with the jobs it holds, all of one queue.
 *
 * @param token fences every outcome of these jobs; later claims of a job have greater tokens
 * @param claimedAt the store's time of the claim
 * @param alone whether the job is a suspect and runs in a lease of its own
 * @param admitted those of the jobs that waited for a breaker and were let through: they may run while it holds others
 */
public record Claim(long token, String queue, Instant claimedAt, boolean alone, List<Job> jobs, Set<JobId> admitted) {

    public Claim {
        jobs = List.copyOf(jobs);
        admitted = Set.copyOf(admitted);
    }

    /** A claim of which nothing was let through by a breaker. */
    public Claim(long token, String queue, Instant claimedAt, boolean alone, List<Job> jobs) {
        this(token, queue, claimedAt, alone, jobs, Set.of());
    }
}
