// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.job.Job;
import io.reprise.job.JobId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A lease with the jobs that it holds, all of one queue. Immutable.
 *
 * @param token the token of the lease; it guards every outcome of these jobs. Later claims of a job have greater tokens
 * @param queue the queue of the jobs
 * @param claimedAt time of the claim, by the store's clock
 * @param alone whether the claim holds one suspect that must be the only suspect of its worker. If that worker is lost,
 *     this job is to blame
 * @param jobs the jobs, in the order of the claim; at least one
 * @param admitted ids of jobs that were parked by a breaker and that the breaker admitted. They may run while the
 *     breaker holds others
 * @param damaged jobs whose stored row cannot be read, with the reason. They are leased like others, with the parts
 *     that could be read, so that they end as unreadable and do not block the queue
 * @param together how many suspects the worker may hold at most while it holds these; 0 if these jobs are not suspects
 * @since 0.1.0
 */
public record Claim(
        long token,
        String queue,
        Instant claimedAt,
        boolean alone,
        List<Job> jobs,
        Set<JobId> admitted,
        Map<JobId, String> damaged,
        int together) {

    /** Copies the collections. */
    public Claim {
        jobs = List.copyOf(jobs);
        admitted = Set.copyOf(admitted);
        damaged = Map.copyOf(damaged);
    }

    /** Creates a claim of ordinary jobs, or of one suspect that must run alone. */
    public Claim(
            long token,
            String queue,
            Instant claimedAt,
            boolean alone,
            List<Job> jobs,
            Set<JobId> admitted,
            Map<JobId, String> damaged) {
        this(token, queue, claimedAt, alone, jobs, admitted, damaged, alone ? 1 : 0);
    }

    /** Creates a claim whose rows could all be read. */
    public Claim(long token, String queue, Instant claimedAt, boolean alone, List<Job> jobs, Set<JobId> admitted) {
        this(token, queue, claimedAt, alone, jobs, admitted, Map.of());
    }

    /** Creates a claim without jobs that a breaker admitted. */
    public Claim(long token, String queue, Instant claimedAt, boolean alone, List<Job> jobs) {
        this(token, queue, claimedAt, alone, jobs, Set.of());
    }

    /**
     * Returns this claim as one of suspects.
     *
     * @param most how many suspects the worker may hold at most while it holds these
     */
    public Claim ofSuspects(int most) {
        return new Claim(token, queue, claimedAt, alone, jobs, admitted, damaged, most);
    }
}
