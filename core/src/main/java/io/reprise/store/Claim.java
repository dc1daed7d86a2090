// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.Job;
import java.time.Instant;
import java.util.List;

/**
 * A lease with the jobs it holds, all of one queue.
 *
 * @param token fences every outcome of these jobs; later claims of a job have greater tokens
 * @param claimedAt the store's time of the claim
 * @param alone whether the job is a suspect and runs in a lease of its own
 */
public record Claim(long token, String queue, Instant claimedAt, boolean alone, List<Job> jobs) {

    public Claim {
        jobs = List.copyOf(jobs);
    }
}
