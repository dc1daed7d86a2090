// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.job.Job;
import io.reprise.store.Claim;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A lease of this worker, with its runs that are not settled. {@link LeaseBook} guards it: all threads reach it through
 * the book. {@code RemoteRuns} creates one for each claim or report, outside any book.
 */
public final class HeldLease {

    public final long token;
    final String queue;
    /** For a lease on suspects, how many suspects this worker may hold at once, these included; else 0. */
    final int together;

    final long claimedNanos;

    private final Set<Run> open = new LinkedHashSet<>();
    private long expiresNanos;

    HeldLease(Claim claim, long claimedNanos, long expiresNanos) {
        this.token = claim.token();
        this.queue = claim.queue();
        this.together = claim.together();
        this.claimedNanos = claimedNanos;
        this.expiresNanos = expiresNanos;
        for (Job job : claim.jobs()) {
            boolean admitted = claim.admitted().contains(job.id());
            open.add(new Run(job, this, admitted, claim.damaged().get(job.id())));
        }
    }

    List<Run> runs() {
        return List.copyOf(open);
    }

    int open() {
        return open.size();
    }

    /** Removes a settled run, so that its payload can be collected. */
    void close(Run settled) {
        open.remove(settled);
    }

    long expiresNanos() {
        return expiresNanos;
    }

    void extend(long untilNanos) {
        expiresNanos = untilNanos;
    }
}
