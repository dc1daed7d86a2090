// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Job;
import io.reprise.store.Claim;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** A lease this worker holds, with the runs under it that are not settled. Guarded by {@link LeaseBook}. */
final class Lease {

    final long token;
    final String queue;
    /** How many suspects may be held beside these, these included; 0 if these are none. */
    final int together;

    final long claimedNanos;

    private final Set<Run> open = new LinkedHashSet<>();
    private long expiresNanos;

    Lease(Claim claim, long claimedNanos, long expiresNanos) {
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

    /** Lets go of settled runs, and of their payloads. */
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
