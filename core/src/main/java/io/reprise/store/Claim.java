// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.Job;
import io.reprise.JobId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A lease with the jobs it holds, all of one queue.
 *
 * @param token fences every outcome of these jobs; later claims of a job have greater tokens
 * @param claimedAt the store's time of the claim
 * @param alone whether the one job is a suspect that must be the worker's only one: if it is lost, it is to blame
 * @param admitted those of the jobs that waited for a breaker and were let through: they may run while it holds others
 * @param damaged those of the jobs whose stored row is not understood, with the reason. They are leased like others, with
 *     what could be read of them, so that they end as unreadable and are in nobody's way
 * @param together how many suspects the worker may hold at most while it holds these; 0 if these are none
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

    public Claim {
        jobs = List.copyOf(jobs);
        admitted = Set.copyOf(admitted);
        damaged = Map.copyOf(damaged);
    }

    /** A claim of ordinary jobs, or of one that must run alone. */
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

    /** A claim of which everything was understood. */
    public Claim(long token, String queue, Instant claimedAt, boolean alone, List<Job> jobs, Set<JobId> admitted) {
        this(token, queue, claimedAt, alone, jobs, admitted, Map.of());
    }

    /** A claim of which nothing was let through by a breaker. */
    public Claim(long token, String queue, Instant claimedAt, boolean alone, List<Job> jobs) {
        this(token, queue, claimedAt, alone, jobs, Set.of());
    }

    /** The same claim, of suspects that may run together with so many. */
    public Claim ofSuspects(int most) {
        return new Claim(token, queue, claimedAt, alone, jobs, admitted, damaged, most);
    }
}
