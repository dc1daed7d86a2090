// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.store.Claim;
import java.util.List;

/** A lease this worker holds, with the runs under it. Guarded by {@link LeaseBook}, but for what is final. */
final class Lease {

    final long token;
    final String queue;
    final boolean alone;
    final List<Run> runs;

    private int open;
    private long expiresNanos;

    Lease(Claim claim, long expiresNanos) {
        this.token = claim.token();
        this.queue = claim.queue();
        this.alone = claim.alone();
        this.runs = claim.jobs().stream().map(job -> new Run(job, this)).toList();
        this.open = runs.size();
        this.expiresNanos = expiresNanos;
    }

    int open() {
        return open;
    }

    void close(int settled) {
        open -= settled;
    }

    long expiresNanos() {
        return expiresNanos;
    }

    void extend(long untilNanos) {
        expiresNanos = untilNanos;
    }
}
