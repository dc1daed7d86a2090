// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.job.WaitReason;
import io.reprise.store.Claim;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Collectors;

/** The right of a worker to run a batch of jobs of one queue. */
final class MemoryLease {

    final long token;
    final String worker;
    /** The worker that ran the jobs: this worker, or the worker that it took them over from. */
    final String runner;

    final String queue;
    final boolean alone;
    final Instant claimedAt;
    final Set<StoredJob> jobs = new LinkedHashSet<>();
    Instant expiresAt;
    boolean excused;
    /** The number of jobs at the claim, if the worker is remote and was not heard from yet; else 0. */
    int unheard;

    MemoryLease(long token, String worker, String queue, boolean alone, Instant claimedAt, Instant expiresAt) {
        this.token = token;
        this.worker = worker;
        this.runner = worker;
        this.queue = queue;
        this.alone = alone;
        this.claimedAt = claimedAt;
        this.expiresAt = expiresAt;
    }

    /** A lease on the remaining jobs of a lost lease, for the worker that takes them over. */
    MemoryLease(long token, String worker, MemoryLease lost, Instant expiresAt) {
        this.token = token;
        this.worker = worker;
        this.runner = lost.runner;
        this.queue = lost.queue;
        this.alone = lost.alone;
        this.claimedAt = lost.claimedAt;
        this.excused = lost.excused;
        this.unheard = lost.isUnheard() ? lost.unheard : 0;
        this.expiresAt = expiresAt;
    }

    boolean isUnheard() {
        return unheard > 0 && unheard == jobs.size();
    }

    Claim read() {
        return new Claim(
                token,
                queue,
                claimedAt,
                alone,
                jobs.stream().map(StoredJob::read).toList(),
                jobs.stream()
                        .filter(job -> job.waitReason == WaitReason.BREAKER)
                        .map(job -> job.id)
                        .collect(Collectors.toSet()));
    }
}
